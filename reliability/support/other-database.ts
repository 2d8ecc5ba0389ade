// A database that is not the gateway's own to run: reached by a DATABASE_URL, as a
// user who may do everything, or as a role that may open few connections.
import { withDatabase } from '../../packages/gateway/src/platform/database/connection.ts'
import { openPool, type Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { command, urlOf } from '../../packages/gateway/test/support/server.ts'
import { openThrowawayDatabase } from './throwaway-database.ts'

export interface OtherDatabase {
  readonly url: string
  /** A look into its tables, past whatever is in between. */
  readonly stored: <Result>(work: (pool: Pool) => Promise<Result>) => Promise<Result>
  close(): Promise<void>
}

/** With an owner: an empty database of a role that may open so many connections. */
export async function openOtherDatabase(owner?: {
  readonly role: string
  readonly connectionLimit: number
}): Promise<OtherDatabase> {
  const throwaway = await openThrowawayDatabase()
  const url = new URL(urlOf(throwaway.connection))
  let { connection } = throwaway
  if (owner) {
    const { role, connectionLimit } = owner
    const database = `${url.pathname.slice(1)}_${role}`
    await command(connection, `create role ${role} login connection limit ${connectionLimit}`)
    await command(connection, `create database ${database} owner ${role}`)
    connection = withDatabase(connection, database)
    url.username = role
    url.pathname = `/${database}`
  }
  const pool = openPool(connection, { max: 2 })
  return {
    url: url.href,
    stored: (work) => work(pool),
    async close() {
      await pool.close()
      await throwaway.close()
    },
  }
}
