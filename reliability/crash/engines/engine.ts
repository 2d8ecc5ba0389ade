// The PostgreSQL under a gateway that is to be killed: how it is reached, looked into, and killed itself.
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import type { Seeded } from '../../simulation/seeded.ts'

export interface Engine {
  /** Of the gateway, and of commands beside it. */
  readonly environment: Readonly<Record<string, string>>
  /** What was acknowledged may be answered in its state before for some seconds after a kill. */
  readonly mayLag: boolean
  stored<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result>
  /** A server with all its sessions. Over when what comes in its place, if anything does, takes writes. */
  killServer(seeded: Seeded): Promise<void>
  /** A session: PostgreSQL then resets all others and goes through its recovery. */
  killBackend(seeded: Seeded): Promise<void>
  close(): Promise<void>
}
