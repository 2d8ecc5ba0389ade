// Natural batching: what arrives while a round trip is under way goes out together in the next one. A caller
// alone waits for nobody, and a crowd shares the cost of the commit.

export interface BatchingOptions<Item> {
  readonly maxItems: number
  /** How many round trips may be under way at once. */
  readonly maxFlights: number
  /** How long the first of a batch waits for others. Left out, a caller waits for nobody. */
  readonly gatherMs?: number | undefined
  /** Whether to gather no longer with this one, because no other is to come for now. */
  readonly isLast?: (item: Item) => boolean
  /** Whether an error concerns the items themselves, so that the innocent ones deserve another try alone. */
  readonly isItemError: (error: unknown) => boolean
  /** So many go out together now. */
  readonly onFlight?: (items: number) => void
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** `run` answers each item, in the order of the items. */
export function batched<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { maxItems, maxFlights, gatherMs, isLast, isItemError, onFlight }: BatchingOptions<Item>,
): (item: Item) => Promise<Result> {
  let queue: Waiting<Item, Result>[] = []
  let flights = 0
  let gathering: NodeJS.Timeout | undefined

  const takeOff = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    flights++
    onFlight?.(batch.length)
    await fly(batch)
    flights--
    departWhenGathered()
  }

  const departWhenGathered = (): void => {
    const newest = queue.at(-1)
    if (gatherMs === undefined || queue.length >= maxItems || (newest && isLast?.(newest.item))) {
      departNext()
      return
    }
    if (queue.length === 0 || flights >= maxFlights) return
    gathering ??= setTimeout(departNext, gatherMs)
  }

  const departNext = (): void => {
    clearTimeout(gathering)
    gathering = undefined
    while (queue.length > 0 && flights < maxFlights) {
      const batch = queue.slice(0, maxItems)
      queue = queue.slice(maxItems)
      void takeOff(batch)
    }
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

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject })
      departWhenGathered()
    })
}
