// A PostgreSQL of its own for a programme that is run by hand: made, migrated, used and thrown away.
import { withDatabase } from '../../packages/gateway/src/database/connection.ts'
import { openPool, type Pool } from '../../packages/gateway/src/database/pool.ts'
import { command, startTestServer } from '../../packages/gateway/test/support/server.ts'

export async function openThrowawayDatabase(): Promise<{ pool: Pool; close(): Promise<void> }> {
  const server = await startTestServer()
  await command(server.connection, `create database throwaway template ${server.template} strategy file_copy`)
  const pool = openPool(withDatabase(server.connection, 'throwaway'), { max: 50 })
  return {
    pool,
    async close() {
      await pool.close()
      await server.stop()
    },
  }
}
