// A PostgreSQL of its own for a programme that is run by hand: made, migrated, used and thrown away.
import {
  type ConnectionOptions,
  withDatabase,
} from '../../packages/gateway/src/platform/database/connection.ts'
import type { Settings } from '../../packages/gateway/src/platform/database/embedded/postmaster.ts'
import { openPool, type Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { command, copyDatabase, startTestServer } from '../../packages/gateway/test/support/server.ts'

export async function openThrowawayDatabase(settings: Settings = {}): Promise<{
  pool: Pool
  connection: ConnectionOptions
  close(): Promise<void>
}> {
  const server = await startTestServer(settings)
  const name = `throwaway_${process.pid}_${Date.now()}`
  await copyDatabase(server, { from: server.template, to: name })
  const connection = withDatabase(server.connection, name)
  const pool = openPool(connection, { max: 50 })
  return {
    pool,
    connection,
    async close() {
      await pool.close()
      await command(server.connection, `drop database ${name} with (force)`)
      await server.stop()
    },
  }
}
