// Splits a DATABASE_URL that names several servers, as libpq accepts it, because the driver supports one server only.
// The server that accepts writes is used.

const shape = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(\?[^#]*)?$/i

/** Returns one address per server. Throws an Error whose message completes "it …". */
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
  // Keeps the parameters as written, because encoding them again would change them.
  const isAsWritten = !query.includes('target_session_attrs')
  const end = isAsWritten ? path + query : rest
  return [`${start}${first}${end}`, ...others.map((host) => `${start}${host}${end}`)]
}

const acceptedTargets = new Set(['read-write', 'primary', 'any'])

/** Prefers the last primary until it fails. */
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

  /** Moves to the next server, unless another caller already did. */
  leave(failed: Server): void {
    if (failed === this.current) this.#at = (this.#at + 1) % this.#servers.length
  }
}
