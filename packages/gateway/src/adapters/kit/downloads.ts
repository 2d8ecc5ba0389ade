// Files that stream out of the database. Whoever takes one holds a connection or a snapshot meanwhile, so there are few
// at a time, none goes on for ever, and a reader who has stopped reading is let go.
import { Readable } from 'node:stream'
import type { Clock } from '../../platform/runtime/clock.ts'

export const downloadLimits = {
  /** Of a process, whoever takes them. */
  atOnce: 3,
  /** Of all merchants together, so that no slow reader of one keeps operators from their files. */
  ofMerchants: 2,
  /** A million orders took 23 s. */
  wholeMs: 15 * 60_000,
  /** For how long a reader may take nothing. */
  stalledMs: 30_000,
} as const

export interface Downloads {
  /** Undefined while as many as may be are under way; of a merchant that is named, one. */
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
      /** Since when a piece lies there and nobody takes the next; undefined while the database works. */
      let offeredAtMs: number | undefined
      const watched = async function* () {
        for await (const piece of content) {
          offeredAtMs = clock.now()
          yield piece
          offeredAtMs = undefined
        }
      }
      // A few pieces ahead of the reader, not sixteen: each may be a hundred kilobytes.
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
