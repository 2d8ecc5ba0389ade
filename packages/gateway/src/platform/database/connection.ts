// How a PostgreSQL is reached: the one shape that both the embedded server and a DATABASE_URL come down to,
// and that every client and pool is made from.
import pg from 'pg'
import { messageOf } from '../runtime/errors.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'
import { splitServers } from './server-list.ts'

export type ConnectionOptions =
  | {
      readonly host: string
      readonly port: number
      readonly user: string
      readonly database: string
      /** Said, because pg would otherwise take it from the environment (PGSSLMODE). */
      readonly ssl: false
    }
  | {
      readonly connectionString: string
      /** Further servers of the same database, of which one takes writes. */
      readonly others?: readonly string[]
    }

const example = 'DATABASE_URL=postgresql://tillgate:secret@db.example:5432/tillgate'

export function parseDatabaseUrl(url: string): ConnectionOptions {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase()
  if (scheme !== 'postgres' && scheme !== 'postgresql') {
    throw wrongUrl('it must begin with postgresql://')
  }
  let servers: readonly [string, ...string[]]
  try {
    servers = splitServers(url)
  } catch (error) {
    throw wrongUrl(`it ${messageOf(error)}`)
  }
  for (const server of servers) checkServer(server)
  const [connectionString, ...others] = servers
  return { connectionString, ...(others.length > 0 && { others }) }
}

function checkServer(url: string): void {
  try {
    // The driver's own parser decides, so that what passes here is what it will connect with; it also
    // reads the certificate files that the URL names.
    const { host, port, database } = new pg.Client({ connectionString: url })
    if (!host) throw new Error('it names no host')
    if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Error('its port is not a number')
    if (!database) throw new Error('it names no database')
  } catch (error) {
    throw wrongUrl(reasonWithoutSecrets(error))
  }
}

/** One for each server: what a client is made from. */
export function serversOf(
  connection: ConnectionOptions,
): readonly [ConnectionOptions, ...ConnectionOptions[]] {
  if (!('connectionString' in connection)) return [connection]
  const { connectionString, others = [] } = connection
  return [{ connectionString }, ...others.map((other) => ({ connectionString: other }))]
}

/** The address in words, never with the password. */
export function describeConnection(connection: ConnectionOptions): string {
  return serversOf(connection)
    .map((server) => {
      const { user, host, port, database } = new pg.Client(server)
      if (host.startsWith('/')) return `${host} (database ${database})`
      // A service has no USER, which stands in for one that the address leaves out.
      return `${user ? `${user}@` : ''}${host}:${port}/${database}`
    })
    .join(' or ')
}

/** The same server, another database. */
export function withDatabase(connection: ConnectionOptions, database: string): ConnectionOptions {
  if (!('connectionString' in connection)) return { ...connection, database }
  const named = (address: string): string => {
    const url = new URL(address)
    url.pathname = `/${encodeURIComponent(database)}`
    return url.href
  }
  const { connectionString, others } = connection
  return { connectionString: named(connectionString), ...(others && { others: others.map(named) }) }
}

// A URL parser quotes what it was given, password and all.
function reasonWithoutSecrets(error: unknown): string {
  if (!(error instanceof Error)) return 'it could not be read'
  if ('input' in error || error instanceof URIError) {
    return 'it is not a valid URL (look at the port, and percent-encode # / ? @ % in the password)'
  }
  return error.message
}

function wrongUrl(reason: string): StartFailure {
  return new StartFailure(`DATABASE_URL cannot be used: ${reason}.\nExample: ${example}`, {
    exitCode: exitCodes.settings,
  })
}
