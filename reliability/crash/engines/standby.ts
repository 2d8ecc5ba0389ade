// A primary and a standby that confirms every commit. When the primary dies, the standby takes its place, and what was
// the primary follows it from a fresh copy. The gateway knows both addresses and finds the one that takes writes.
import { parseDatabaseUrl } from '../../../packages/gateway/src/platform/database/connection.ts'
import { killNode } from '../../../packages/gateway/test/support/cluster.ts'
import {
  databaseUser,
  endDebianPostgres,
  startDebianPostgres,
} from '../../../packages/gateway/test/support/debian-postgres.ts'
import { withPool } from '../../support/stored.ts'
import type { Engine } from './engine.ts'

export async function standbyEngine(dataDir: string): Promise<Engine> {
  let primary = await startDebianPostgres()
  let standby = await primary.addSynchronousStandby()
  const connectionTo = (...addresses: string[]) =>
    `postgresql://${databaseUser}@${addresses.join(',')}/${databaseUser}?target_session_attrs=read-write`
  const both = connectionTo(primary.address, standby.address)
  return {
    environment: { DATA_DIR: dataDir, DATABASE_URL: both },
    mayLag: false,
    stored: (work) => withPool(parseDatabaseUrl(both), work),
    async killServer() {
      const { port } = primary
      await primary.kill()
      await standby.promote()
      primary = standby
      standby = await primary.addSynchronousStandby(port)
    },
    killBackend: () => killNode(parseDatabaseUrl(connectionTo(primary.address))),
    close: endDebianPostgres,
  }
}
