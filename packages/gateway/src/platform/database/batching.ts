// Natural batching: what arrives while a round trip is under way goes out together in the next one. A caller
// alone waits for nobody, and a crowd shares the cost of the commit.
import type { StartTimer } from '../runtime/timer.ts'

export interface BatchingOptions {
  readonly maxItems: number
  /** How many round trips may be under way at once. */
  readonly maxFlights: number
  /** How long the first of a batch waits for others. Left out, a caller waits for nobody. */
  readonly gather?: { readonly forMs: number; readonly startTimer: StartTimer } | undefined
  /** Whether an error concerns the items themselves, so that the innocent ones deserve another try alone. */
  readonly isItemError: (error: unknown) => boolean
  /** So many go out together now. */
  readonly onFlight?: (items: number) => void
}

export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>
  /** What waits for others need not: no other is to come for now. */
  flush(): void
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

type Run<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/** `run` answers each item, in the order of the items. */
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
  /** Until the queue is empty, though there may be no flight for it yet. */
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
