// Server-sent events of one order: its status at once, at every change and now and then, with the server's time.
// A stream ends with the order, with the browser, or with the gateway.
import type { ServerResponse } from 'node:http'
import { isFinalOrderStatus } from '@tillgate/protocol'
import type { Order } from '../../core/orders/rules/order.ts'
import type { LiveOrders, LiveStatus } from './live.ts'

/** A browser that takes in nothing while so much waits for it is gone. */
const maxWaitingBytes = 16 * 1024
const reconnectAfterMs = 2_000

interface Stream {
  readonly live: LiveOrders
  readonly order: Order
  readonly onEnd: () => void
}

export class EventStreams {
  readonly #open = new Set<ServerResponse>()

  /** `onEnd` is called once, however it ends. */
  open(response: ServerResponse, { live, order, onEnd }: Stream): void {
    // Gone while we looked the order up: its end was told before anybody listened.
    if (response.destroyed || !response.socket || response.socket.destroyed) {
      response.destroy()
      onEnd()
      return
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // Asks nginx to pass events on as they come.
      'x-accel-buffering': 'no',
    })
    response.write(`retry: ${reconnectAfterMs}\n\n`)
    this.#open.add(response)
    const unlisten = live.listen(order, order.status, (now) => {
      if (response.writableLength > maxWaitingBytes) return response.destroy()
      response.write(`data: ${JSON.stringify(toMessage(now, now.nowMs))}\n\n`)
      if (isFinalOrderStatus(now.status)) response.end()
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

/** What the page's script reads, from the stream or by asking. */
export function toMessage({ status, expiresAtMs }: LiveStatus, nowMs: number) {
  return { status, now: nowMs, expiresAt: expiresAtMs }
}
