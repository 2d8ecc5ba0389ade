// A way to a database that a test can cut and mend, as when its server is stopped and started again.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

export interface CutDatabase {
  /** The DATABASE_URL over this way. */
  readonly url: string
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>
  mend(): Promise<void>
}

export async function cutDatabase(databaseUrl: string): Promise<CutDatabase> {
  const { target, user, database } = placeOf(databaseUrl)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const socket = connect(target)
    client.pipe(socket).pipe(client)
    for (const [one, other] of [
      [client, socket],
      [socket, client],
    ] as const) {
      open.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          open.delete(one)
          other.destroy()
        })
    }
  })
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  const port = await listen(0)
  after(async () => {
    if (server.listening) await close()
  })
  return {
    url: `postgresql://${user}@127.0.0.1:${port}/${database}`,
    cut: close,
    mend: async () => void (await listen(port)),
  }
}

/** Over TCP, or over the unix socket of the folder that the address names as its host. */
function placeOf(databaseUrl: string) {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl)
  const folder = searchParams.get('host')
  return {
    target: folder?.startsWith('/')
      ? { path: `${folder}/.s.PGSQL.${port}` }
      : { host: hostname, port: Number(port || 5432) },
    user: password ? `${username}:${password}` : username,
    database: pathname.slice(1),
  }
}
