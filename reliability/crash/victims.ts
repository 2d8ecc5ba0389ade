// Who is killed, and how: always with SIGKILL, which nobody can catch. The gateway is started again, as a supervisor does;
// its PostgreSQL must come back by itself.
import { readFile } from 'node:fs/promises'
import { killAndWait, serverPid } from '../../packages/gateway/test/support/data-dir.ts'
import type { Seeded } from '../simulation/seeded.ts'
import type { GatewayChild } from '../support/gateway-child.ts'

const weights = { gateway: 50, postmaster: 25, backend: 15, both: 10 } as const
export type Victim = keyof typeof weights

export async function killOne(
  gateway: GatewayChild,
  { dataDir, seeded }: { dataDir: string; seeded: Seeded },
): Promise<Victim> {
  const victim = seeded.weighted(weights)
  const postmaster = victim === 'gateway' ? undefined : await serverPid(dataDir)
  if (victim === 'gateway' || victim === 'both') await gateway.kill()
  if (postmaster !== undefined && (victim === 'postmaster' || victim === 'both'))
    await killAndWait(postmaster)
  if (postmaster !== undefined && victim === 'backend') await killBackend(postmaster, seeded)
  if (victim === 'gateway' || victim === 'both') gateway.start()
  return victim
}

/** One session of the server: PostgreSQL then resets all of them and goes through its recovery. */
async function killBackend(postmaster: number, seeded: Seeded): Promise<void> {
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').catch(() => '')
  const backends: number[] = []
  for (const pid of children.trim().split(' ').map(Number)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.includes('[local]')) backends.push(pid)
  }
  if (backends.length === 0) return
  try {
    process.kill(seeded.pick(backends), 'SIGKILL')
  } catch {
    // It ended by itself just now.
  }
}
