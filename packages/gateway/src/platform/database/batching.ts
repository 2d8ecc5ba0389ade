// Natural batching: items that arrive during a round trip share the next one. A single caller never waits, and many
// callers share the cost of a commit.
import type { StartTimer } from '../runtime/timer.ts'

export interface BatchingOptions {
  readonly maxItems: number
  readonly maxFlights: number
  /** How long the first item of a batch waits for others. If omitted, it does not wait. */
  readonly gather?: { readonly forMs: number; readonly startTimer: StartTimer } | undefined
  /** Whether the items caused the error, so that valid items are retried individually. */
  readonly isItemError: (error: unknown) => boolean
  readonly onFlight?: (items: number) => void
}

export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>
  /** Ends the gathering period, because no further items are expected. */
  flush(): void
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

type Run<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/** `run` returns one result for each item, in order. */
export function batched<Item, Result>(
  run: Run<Item, Result>,
  options: BatchingOptions,
): (item: Item) => Promise<Result> {
  return makeBatcher(run, options).add
}

export function makeBatcher<Item, Result>(
  run: Run<Item, Result>,
  { maxItems, maxFlights, gather, isItemError, onFlight }: BatchingOptions,
): Batcher<Item, Result> {
  let queue: Waiting<Item, Result>[] = []
  let flights = 0
  let cancelGathering: (() => void) | undefined
  let isFlushing = false

  const takeOff = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    flights++
    onFlight?.(batch.length)
    await fly(batch)
    flights--
    departWhenGathered()
  }

  const departWhenGathered = (): void => {
    if (gather === undefined || isFlushing || queue.length >= maxItems) {
      departNext()
      return
    }
    if (queue.length === 0 || flights >= maxFlights) return
    cancelGathering ??= gather.startTimer(gather.forMs, departNext)
  }

  const departNext = (): void => {
    cancelGathering?.()
    cancelGathering = undefined
    while (queue.length > 0 && flights < maxFlights) {
      const batch = queue.slice(0, maxItems)
      queue = queue.slice(maxItems)
      void takeOff(batch)
    }
    if (queue.length === 0) isFlushing = false
  }

  const fly = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item))
      if (results.length !== batch.length) throw new Error('a batch must answer every item')
      // Safe: the lengths are equal, so every index has its result.
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      if (batch.length > 1 && isItemError(error)) {
        for (const waiting of batch) await fly([waiting])
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        departWhenGathered()
      }),
    flush() {
      isFlushing = true
      departNext()
    },
  }
}
