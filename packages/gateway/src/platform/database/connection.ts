// The one form of a PostgreSQL address, for the embedded server and for DATABASE_URL.
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
      /** Explicit, because pg would otherwise read PGSSLMODE. */
      readonly ssl: false
    }
  | {
      readonly connectionString: string
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
    // The driver's own parser decides, so that an accepted URL is one that the driver can connect with. It also reads
    // the certificate files that the URL names.
    const { host, port, database } = new pg.Client({ connectionString: url })
    if (!host) throw new Error('it names no host')
    if (!Number.isInteger(port) || port < 1 || port > 65535) throw new Error('its port is not a number')
    if (!database) throw new Error('it names no database')
  } catch (error) {
    throw wrongUrl(reasonWithoutSecrets(error))
  }
}

export function serversOf(
  connection: ConnectionOptions,
): readonly [ConnectionOptions, ...ConnectionOptions[]] {
  if (!('connectionString' in connection)) return [connection]
  const { connectionString, others = [] } = connection
  return [{ connectionString }, ...others.map((other) => ({ connectionString: other }))]
}

export function describeConnection(connection: ConnectionOptions): string {
  return serversOf(connection)
    .map((server) => {
      const { user, host, port, database } = new pg.Client(server)
      if (host.startsWith('/')) return `${host} (database ${database})`
      // A service has no USER variable, which pg substitutes for a missing user.
      return `${user ? `${user}@` : ''}${host}:${port}/${database}`
    })
    .join(' or ')
}

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

// The URL parser quotes its input, including the password.
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
