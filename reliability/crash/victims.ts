// Who is killed, and how: always with SIGKILL, which nobody can catch. The gateway is started again, as a supervisor does;
// its PostgreSQL, and one of several processes, must come back by themselves.
import { setTimeout as pause } from 'node:timers/promises'
import { isThere, killAndWait, serverPid } from '../../packages/gateway/test/support/data-dir.ts'
import type { Seeded } from '../simulation/seeded.ts'
import { childrenNamed, childrenOf } from '../support/children-of.ts'
import type { GatewayChild } from '../support/gateway-child.ts'

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
  { gateway, dataDir, seeded }: { gateway: GatewayChild; dataDir: string; seeded: Seeded },
): Promise<void> {
  const postmaster = await serverPid(dataDir)
  if (victim === 'process') await gateway.killProcess((pids) => seeded.pick(pids))
  if (victim === 'parent') await gateway.killParent()
  if (victim === 'gateway' || victim === 'both') await gateway.kill()
  if (postmaster === undefined) return
  if (victim === 'postmaster' || victim === 'both') await killServer(postmaster)
  if (victim === 'backend') await killBackend(postmaster, seeded)
}

/** Its sessions live on for a moment and finish what they have; the server is dead when they are. */
export async function killServer(postmaster: number): Promise<void> {
  const sessions = await childrenOf(postmaster)
  await killAndWait(postmaster)
  while (sessions.some(isThere)) await pause(5)
}

/** PostgreSQL then resets all its sessions and goes through its recovery. */
async function killBackend(postmaster: number, seeded: Seeded): Promise<void> {
  const backends = await childrenNamed(postmaster, '[local]')
  if (backends.length === 0) return
  try {
    process.kill(seeded.pick(backends), 'SIGKILL')
  } catch {
    // It ended by itself just now.
  }
}
