// Server-sent events of one order: its status at once, at every change and periodically, with the server's time. A
// stream ends with the order, the browser or the gateway.
import type { ServerResponse } from 'node:http'
import { isFinalOrderStatus } from '@tillgate/protocol'
import { type Order, seenStatus } from '../../core/orders/rules/order.ts'
import type { LiveOrders, LiveStatus } from './live.ts'

/** A browser with this much unread data is considered gone. */
const maxWaitingBytes = 16 * 1024
const reconnectAfterMs = 2_000

interface Stream {
  readonly live: LiveOrders
  readonly order: Order
  readonly onEnd: () => void
}

export class EventStreams {
  readonly #open = new Set<ServerResponse>()

  /** `onEnd` is called exactly once. */
  open(response: ServerResponse, { live, order, onEnd }: Stream): void {
    // The browser left during the lookup of the order, before a listener was attached.
    if (response.destroyed || !response.socket || response.socket.destroyed) {
      response.destroy()
      onEnd()
      return
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // Asks nginx not to buffer events.
      'x-accel-buffering': 'no',
    })
    response.write(`retry: ${reconnectAfterMs}\n\n`)
    this.#open.add(response)
    const unlisten = live.listen(order, seenStatus(order), (now) => {
      if (response.writableLength > maxWaitingBytes) return response.destroy()
      response.write(`data: ${JSON.stringify(toMessage(now, now.nowMs))}\n\n`)
      // An authorized order changes in days.
      if (now.status === 'authorized' || isFinalOrderStatus(now.status)) response.end()
    })
    response.once('close', () => {
      this.#open.delete(response)
      unlisten()
      onEnd()
    })
  }

  closeAll(): void {
    for (const response of this.#open) response.end()
  }
}

/** The message that the page's script reads from the stream or by polling. */
export function toMessage({ status, expiresAtMs }: LiveStatus, nowMs: number) {
  return { status, now: nowMs, expiresAt: expiresAtMs }
}
