// What a gateway, a PostgreSQL and a cluster carry, as a queueing model: an order costs each part processor time, parts
// share the cores of stations, and a station is full when they are (utilisation law). What waits while a transaction is
// under way shares the next one, so an order costs the less the more there are.

/** Processor time of an order in one part: its own, and that of each transaction that is made for it. */
export interface Demand {
  readonly orderMs: number
  readonly transactionMs: number
}

/** Cores, and the parts that work on them. An event loop is a station of one core, on the cores of another. */
export interface Station {
  readonly name: string
  readonly cores: number
  readonly parts: readonly Demand[]
}

/**
 * Create, pay, settle, both callbacks delivered: fitted by `node bench/capacity.ts --measure`. The thread pool makes two
 * signatures (3.5 ms each) and two verifications (0.1 ms).
 */
export const demands = {
  eventLoop: { orderMs: 1.5, transactionMs: 0.7 },
  threadPool: { orderMs: 7.3, transactionMs: 0 },
  database: { orderMs: 0.1, transactionMs: 0.7 },
  /** These two as bench/citus.ts measures them, with some 6 orders in a batch. */
  coordinator: { orderMs: 2.7, transactionMs: 0 },
  workers: { orderMs: 3.6, transactionMs: 0 },
} as const satisfies Record<string, Demand>

/** Of an order: by itself, and when all is full. */
export const transactions = { alone: 16, full: 2.4 } as const
/** What a transaction waits for the disk. */
export const diskMs = 1

export function demandMs(parts: readonly Demand[], transactionsAnOrder: number = transactions.full): number {
  return parts.reduce((sum, part) => sum + part.orderMs + part.transactionMs * transactionsAnOrder, 0)
}

/** Orders a second at which all its cores are busy all the time. */
export function capacityOf({ cores, parts }: Pick<Station, 'cores' | 'parts'>): number {
  return (cores * 1_000) / demandMs(parts)
}

/** Share of its cores that so many orders a second take. */
export function utilisationOf(
  { cores, parts }: Station,
  { perSecond, transactionsAnOrder }: { perSecond: number; transactionsAnOrder: number },
): number {
  return (perSecond * demandMs(parts, transactionsAnOrder)) / 1_000 / cores
}

/** The one that is full first. */
export function bottleneck(stations: readonly Station[]): Station {
  return stations.reduce((least, station) => (capacityOf(station) < capacityOf(least) ? station : least))
}

/** Chance that whoever comes finds every core busy (Erlang C). */
export function chanceToWait(cores: number, utilisation: number): number {
  if (utilisation >= 1) return 1
  let free = 1
  // Erlang B, a core at a time.
  for (let core = 1; core <= cores; core++) {
    const offered = cores * utilisation * free
    free = offered / (core + offered)
  }
  return free / (1 - utilisation * (1 - free))
}

/** What waiting adds to each millisecond of work (M/M/c; where cores are shared in turns, for any length of work). */
export function waitPerMs(cores: number, utilisation: number): number {
  if (utilisation >= 1) return Number.POSITIVE_INFINITY
  return chanceToWait(cores, utilisation) / (cores * (1 - utilisation))
}

export interface Prediction {
  readonly transactionsAnOrder: number
  /** Of each station. */
  readonly utilisations: readonly number[]
  readonly createMs: { readonly p50: number; readonly p95: number }
}

/**
 * At so many orders a second, shared among so many gateway processes, each of which makes batches of its own. While a
 * transaction is under way as many orders gather as arrive in that time: the batch is where the two agree.
 */
export function predict(
  stations: readonly Station[],
  { perSecond, processes = 1 }: { perSecond: number; processes?: number },
): Prediction {
  const { eventLoop, database } = demands
  const at = (batch: number) => {
    const transactionsAnOrder = transactions.alone / batch
    const utilisations = stations.map((station) => utilisationOf(station, { perSecond, transactionsAnOrder }))
    const workMs = demandMs([eventLoop, database], transactionsAnOrder) / transactionsAnOrder
    const waits = stations.map(({ cores }, index) => waitPerMs(cores, utilisations[index] ?? 1))
    const waitMs = workMs * waits.reduce((sum, wait) => sum + wait, 0)
    return { transactionsAnOrder, utilisations, aloneMs: diskMs + workMs, waitMs }
  }
  const gathered = (batch: number) => {
    const { aloneMs, waitMs } = at(batch)
    return 1 + ((perSecond / processes) * (aloneMs + waitMs)) / 1_000
  }
  let [low, high] = [1, largestBatch]
  for (let halving = 0; halving < 40; halving++) {
    const middle = (low + high) / 2
    if (gathered(middle) > middle) low = middle
    else high = middle
  }
  const { aloneMs, waitMs, ...found } = at(high)
  // Whoever comes while a transaction is under way waits for half of it, on the average. Waits are taken as exponential.
  const gatherMs = ((aloneMs + waitMs) * (1 - 1 / high)) / 2
  const createMs = (share: number) => aloneMs - Math.log(1 - share) * (waitMs + gatherMs)
  return { ...found, createMs: { p50: createMs(0.5), p95: createMs(0.95) } }
}

const largestBatch = 200
