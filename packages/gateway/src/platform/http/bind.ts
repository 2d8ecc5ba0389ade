// Binds a listener to its address, or fails with a clear reason.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'

export interface BindOptions {
  readonly host: string
  readonly port: number
  readonly hostSetting: string
  readonly portSetting: string
}

export async function bind(listener: FastifyInstance, options: BindOptions): Promise<string> {
  const { host, port } = options
  try {
    // For localhost, the listener uses IPv4 only: Fastify would open a second server for IPv6, without our limits.
    await listener.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  } catch (error) {
    throw new StartFailure(whyNotBound(error as NodeJS.ErrnoException, options), {
      exitCode: exitCodes.unavailable,
      cause: error,
    })
  }
  // Safe: a listener bound to a host and port has an AddressInfo.
  const address = listener.server.address() as AddressInfo
  const isAnywhere = host === '0.0.0.0' || host === '::'
  const name = isAnywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${address.port}`
}

export function whyNotBound(
  error: NodeJS.ErrnoException,
  { host, port, hostSetting, portSetting }: BindOptions,
): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} is taken by another program. Stop that program, or set ${portSetting} to a free port.`
    case 'EACCES':
      return `Port ${port} may not be used by this user. Set ${portSetting} to a port above 1023.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address ${host}. Set ${hostSetting} to one that it has, such as 127.0.0.1.`
    default:
      return `Cannot listen on ${host} port ${port}: ${error.message}`
  }
}
