// A DATABASE_URL may name several servers, as libpq's may: a primary and its standbys, of which the one that takes
// writes is used. The driver knows one server only, so the address is taken apart here.

const shape = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(\?[^#]*)?$/i

/** One address for each server that the URL names; throws an Error whose message completes "it …". */
export function splitServers(url: string): readonly [string, ...string[]] {
  const [, start, hosts = '', path = '', query = ''] = shape.exec(url) ?? []
  if (start === undefined) return [url]
  const parameters = new URLSearchParams(query)
  const wanted = parameters.get('target_session_attrs') ?? 'read-write'
  if (!acceptedTargets.has(wanted))
    throw new Error(`asks for target_session_attrs=${wanted}, and the gateway needs read-write`)
  parameters.delete('target_session_attrs')
  const rest = path + (parameters.size === 0 ? '' : `?${parameters}`)
  const [first = '', ...others] = hosts.split(',')
  if (others.length > 0 && [first, ...others].includes(''))
    throw new Error('names an empty host between its commas')
  // The parameters as they stand, unless one was taken out: encoding them anew would change what nobody asked to.
  const isAsWritten = !query.includes('target_session_attrs')
  const end = isAsWritten ? path + query : rest
  return [`${start}${first}${end}`, ...others.map((host) => `${start}${host}${end}`)]
}

const acceptedTargets = new Set(['read-write', 'primary', 'any'])

/** Which of several servers is used: the last that took writes, until it fails. */
export class ServerChoice<Server> {
  readonly #servers: readonly [Server, ...Server[]]
  #at = 0

  constructor(servers: readonly [Server, ...Server[]]) {
    this.#servers = servers
  }

  get count(): number {
    return this.#servers.length
  }

  get current(): Server {
    return this.#servers[this.#at] ?? this.#servers[0]
  }

  /** The next is tried, unless somebody else noticed it first. */
  leave(failed: Server): void {
    if (failed === this.current) this.#at = (this.#at + 1) % this.#servers.length
  }
}
