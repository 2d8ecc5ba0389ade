// A listener that closes without failing a request: it takes no new connections, tells those that are open to go
// elsewhere with the next answer, and only then cuts what is still idle. Closing idle connections at once would cut
// some of them just when a request is on its way.
import { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../clock.ts'

/** A busy client uses each of its connections again within this time; who does not, waits for nothing. */
export const idleGraceMs = 1_000

/** After everything else that adds to the listener: streams that never end by themselves are ended before this. */
export function drainBeforeClosing(
  listener: FastifyInstance,
  { clock, isPatient }: { clock: Clock; isPatient: () => boolean },
): void {
  listener.addHook('preClose', async () => {
    if (!isPatient() || !listener.server.listening) return
    const enough = new AbortController()
    // Of net, because the one of http closes idle connections at once.
    Server.prototype.close.call(listener.server, () => enough.abort())
    await clock.wait(idleGraceMs, enough.signal)
  })
}
