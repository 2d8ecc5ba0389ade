// Merges the metrics of several processes. The parent keeps the last snapshot of each process and the final counters of
// ended ones, so that no counter decreases.
import { countedOnly, mergeSnapshots } from '../../platform/observability/metrics/merge.ts'
import type { Registry, Snapshot } from '../../platform/observability/metrics/registry.ts'

export interface Source {
  ask(askId: number): void
}

/** A process that is busy longer than this keeps its last snapshot. */
const answerWithinMs = 1_000

export class Gathering {
  readonly #own: Registry
  readonly #last = new Map<Source, Snapshot>()
  readonly #waiting = new Map<number, { readonly missing: Set<Source>; readonly done: () => void }>()
  #ended: Snapshot = []
  #asks = 0

  constructor(own: Registry) {
    this.#own = own
  }

  add(source: Source): void {
    this.#last.set(source, [])
  }

  noteSnapshot(source: Source, snapshot: Snapshot, askId?: number): void {
    if (!this.#last.has(source)) return
    this.#last.set(source, snapshot)
    if (askId !== undefined) this.#answered(askId, source)
  }

  ended(source: Source): void {
    const last = this.#last.get(source)
    if (!last) return
    this.#last.delete(source)
    this.#ended = mergeSnapshots([this.#ended, countedOnly(last)])
    for (const askId of [...this.#waiting.keys()]) this.#answered(askId, source)
  }

  /** Asks every process except the asker, whose snapshot came with its request. */
  async gather(asker: Source): Promise<Snapshot> {
    const askId = ++this.#asks
    const missing = new Set([...this.#last.keys()].filter((source) => source !== asker))
    if (missing.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.set(askId, { missing, done: resolve })
      const giveUp = setTimeout(resolve, answerWithinMs)
      for (const source of [...missing]) source.ask(askId)
      await promise
      clearTimeout(giveUp)
      this.#waiting.delete(askId)
    }
    return mergeSnapshots([this.#own.snapshot(), this.#ended, ...this.#last.values()])
  }

  #answered(askId: number, source: Source): void {
    const waiting = this.#waiting.get(askId)
    if (!waiting) return
    waiting.missing.delete(source)
    if (waiting.missing.size === 0) waiting.done()
  }
}
