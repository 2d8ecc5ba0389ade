// The embedded PostgreSQL, started while the rest of the program is still being loaded: each keeps a core busy for a
// quarter of a second, and creating a new data folder takes a second.
import { type Embedded, type EmbeddedEvent, type EmbeddedOptions, startEmbedded } from './embedded.ts'

export interface EarlyEmbedded {
  /** When PostgreSQL's process runs, or none is needed. Loading a program keeps the event loop from starting one. */
  readonly begun: Promise<void>
  /** At most once. The listener receives the events so far first. */
  take(parts: Required<Pick<EmbeddedOptions, 'report' | 'signal'>>): Promise<Embedded>
  /** Stops a server that was not taken. */
  leave(): Promise<void>
}

export function startEmbeddedEarly(options: Pick<EmbeddedOptions, 'dataDir' | 'settings'>): EarlyEmbedded {
  const waiting: EmbeddedEvent[] = []
  let listener = (event: EmbeddedEvent): void => void waiting.push(event)
  let isTaken = false
  const giving = new AbortController()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const starting = startEmbedded({
    ...options,
    report(event) {
      listener(event)
      begin()
    },
    signal: giving.signal,
  })
  // Its failure is reported where it is taken.
  starting.then(
    () => begin(),
    () => begin(),
  )
  return {
    begun,
    async take({ report, signal }) {
      isTaken = true
      for (const event of waiting) report(event)
      listener = report
      const onAbort = () => giving.abort(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      try {
        const embedded = await starting
        if (!signal.aborted) return embedded
        await embedded.stop()
        throw signal.reason
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
    async leave() {
      if (isTaken) return
      giving.abort()
      await starting.then(
        (embedded) => embedded.stop(),
        () => {},
      )
    },
  }
}
