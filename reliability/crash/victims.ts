// Who is killed, and how: always with SIGKILL, which nobody can catch. The gateway is started again, as a supervisor does;
// its PostgreSQL, and one of several processes, must come back by themselves.
import type { Seeded } from '../simulation/seeded.ts'
import type { GatewayChild } from '../support/gateway-child.ts'
import type { Engine } from './engines/engine.ts'

/**
 * How often each is met in ten cycles. `gateway`: all its processes at once. `parent`: the one that keeps the others
 * running, alone. `process`: one of those others. `backend`: a session of PostgreSQL. `both`: gateway and server.
 */
const inTen = { gateway: 1, parent: 2, process: 3, postmaster: 2, backend: 1, both: 1 } as const
export type Victim = keyof typeof inTen

export const noVictims: Readonly<Record<Victim, number>> = {
  gateway: 0,
  parent: 0,
  process: 0,
  postmaster: 0,
  backend: 0,
  both: 0,
}

/** One after the other without end, in an order that the seed picks; every ten of them hold each kind. */
export function* victims(seeded: Seeded): Generator<Victim, never> {
  for (;;) {
    // Safe: the keys of this record are victims.
    const ten = (Object.keys(inTen) as Victim[]).flatMap((victim) => Array(inTen[victim]).fill(victim))
    while (ten.length > 0) yield ten.splice(seeded.whole(0, ten.length - 1), 1)[0]
  }
}

/** Where one process is the whole gateway, it stands for a part of it. */
export function victimAmong(processes: number, victim: Victim): Victim {
  return processes === 1 && (victim === 'parent' || victim === 'process') ? 'gateway' : victim
}

export async function kill(
  victim: Victim,
  { gateway, engine, seeded }: { gateway: GatewayChild; engine: Engine; seeded: Seeded },
): Promise<void> {
  if (victim === 'process') await gateway.killProcess((pids) => seeded.pick(pids))
  if (victim === 'parent') await gateway.killParent()
  if (victim === 'gateway' || victim === 'both') await gateway.kill()
  if (victim === 'postmaster' || victim === 'both') await engine.killServer(seeded)
  if (victim === 'backend') await engine.killBackend(seeded)
}
