// Files that stream from the database. Each holds a connection or a snapshot, so their number and duration are limited,
// and a reader that stops reading is disconnected.
import { Readable } from 'node:stream'
import type { Clock } from '../../platform/runtime/clock.ts'

export const csvType = 'text/csv; charset=utf-8'

export const downloadLimits = {
  /** Per process. */
  atOnce: 3,
  /** For all merchants together, so that slow readers do not block operators' downloads. */
  ofMerchants: 2,
  /** A million orders took 23 s. */
  wholeMs: 15 * 60_000,
  /** The longest time in which a reader may take nothing. */
  stalledMs: 30_000,
} as const

export interface Downloads {
  /** Undefined at the limit, which is one for a single merchant. */
  start(content: AsyncIterable<string>, of?: { readonly merchantId: string }): Readable | undefined
}

export function makeDownloads(clock: Clock): Downloads {
  let underWay = 0
  const merchants = new Set<string>()
  return {
    start(content, of) {
      if (underWay >= downloadLimits.atOnce) return undefined
      if (of && (merchants.has(of.merchantId) || merchants.size >= downloadLimits.ofMerchants))
        return undefined
      underWay++
      if (of) merchants.add(of.merchantId)
      const over = new AbortController()
      const startedAtMs = clock.now()
      /** When the current piece became available; undefined while the database works. */
      let offeredAtMs: number | undefined
      const watched = async function* () {
        for await (const piece of content) {
          offeredAtMs = clock.now()
          yield piece
          offeredAtMs = undefined
        }
      }
      // Only a few pieces ahead of the reader, because each may be 100 KB.
      const stream = Readable.from(watched(), { highWaterMark: 1 })
      stream.once('close', () => {
        underWay--
        if (of) merchants.delete(of.merchantId)
        over.abort()
      })
      void watch()
      return stream

      async function watch(): Promise<void> {
        while (!over.signal.aborted) {
          const nowMs = clock.now()
          const stalledAtMs = (offeredAtMs ?? nowMs) + downloadLimits.stalledMs
          const endsAtMs = Math.min(stalledAtMs, startedAtMs + downloadLimits.wholeMs)
          if (endsAtMs <= nowMs) {
            stream.destroy(new Error('the download took too long'))
            return
          }
          await clock.wait(endsAtMs - nowMs, over.signal)
        }
      }
    },
  }
}
