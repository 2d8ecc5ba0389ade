// An empty database over TCP, for programs that cannot speak to PostgreSQL over a unix socket.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after } from 'node:test'
import { emptyDatabase } from './database.ts'

/** Its DATABASE_URL. */
export async function databaseOverTcp(): Promise<string> {
  const { connection } = await emptyDatabase()
  if ('connectionString' in connection) return connection.connectionString
  const { host, port, user, database } = connection
  const server = createServer((client) => {
    const socket = connect(`${host}/.s.PGSQL.${port}`)
    client.pipe(socket).pipe(client)
    for (const [one, other] of [
      [client, socket],
      [socket, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `postgresql://${user}@127.0.0.1:${(server.address() as AddressInfo).port}/${database}`
}
