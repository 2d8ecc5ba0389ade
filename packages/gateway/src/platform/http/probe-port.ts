// Whether this process could listen at an address now, before it needs the address.
import { once } from 'node:events'
import { createServer } from 'node:net'

export interface PortAddress {
  readonly host: string
  readonly port: number
}

/** Returns why not; undefined if the port is free. */
export async function probePort({ host, port }: PortAddress): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer()
  try {
    await once(server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }), 'listening')
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  } finally {
    server.close()
  }
}
