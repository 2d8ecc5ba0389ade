// `node bench/capacity.ts`: what a gateway, a PostgreSQL and a cluster carry by the model, and how unevenly merchants load
// a cluster, as the tables of docs/operating.md. `--measure` holds the model to one real gateway for two minutes first.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Level, measure } from './capacity/measure.ts'
import {
  bottleneck,
  capacityOf,
  type Demand,
  demands,
  predict,
  type Station,
  utilisationOf,
} from './capacity/model.ts'
import { skewOf } from './capacity/skew.ts'

const { eventLoop, threadPool, database, coordinator, workers } = demands
const secondsAMonth = 30 * 86_400
const kilobytesAnOrder = { fresh: 6.4, pruned: 3.1 }
const coresOfWorker = 4
const coresOfCoordinator = 16

const { values } = parseArgs({ options: { measure: { type: 'boolean' } } })
if (values.measure) await hold()
tellCapacities()
tellSkew()

function tellCapacities(): void {
  const gateway = (cores: number, processes: number): Station[] => [
    { name: 'event loop', cores: processes, parts: [eventLoop] },
    { name: 'cores, by signatures', cores, parts: [eventLoop, threadPool] },
  ]
  const cluster = (count: number): Station[] => [
    { name: 'coordinator', cores: coresOfCoordinator, parts: [coordinator] },
    { name: 'workers', cores: count * coresOfWorker, parts: [workers] },
  ]
  const all: [string, Station[]][] = [
    [
      'one process and its PostgreSQL on 2 cores',
      [{ name: 'cores, by signatures', cores: 2, parts: [eventLoop, threadPool, database] }],
    ],
    ['one process on 4 cores', gateway(4, 1)],
    ['16 processes on 16 cores', gateway(16, 16)],
    ['PostgreSQL on 4 cores', [{ name: 'its cores', cores: 4, parts: [database] }]],
    ['PostgreSQL on 16 cores', [{ name: 'its cores', cores: 16, parts: [database] }]],
    ...[4, 16, 64].map((count): [string, Station[]] => [`cluster of ${count} workers`, cluster(count)]),
  ]
  console.table(
    all.map(([what, stations]) => {
      const bound = bottleneck(stations)
      const full = capacityOf(bound)
      const plan = full / 2
      const terabytes = (kilobytes: number) => ((plan * kilobytes * secondsAMonth) / 1e9).toFixed(1)
      return {
        what,
        'orders/s when full': Math.round(full),
        'to plan with': Math.round(plan),
        'callbacks/s': Math.round(plan * 2),
        'bounded by': bound.name,
        'gateway cores': Math.ceil(full / capacityOf({ cores: 1, parts: [eventLoop, threadPool] })),
        'TB a month, fresh': terabytes(kilobytesAnOrder.fresh),
        'TB a month, pruned': terabytes(kilobytesAnOrder.pruned),
      }
    }),
  )
}

function tellSkew(): void {
  const rows = [
    { workers: 4, shards: 32 },
    { workers: 16, shards: 64 },
    { workers: 64, shards: 128 },
  ].flatMap((spread) =>
    [1_000, 10_000].map((merchants) => {
      const cells = [0.8, 1, 1.2].map((exponent) => {
        const told = [0, 1, 16].map((isolated) => {
          const skew = skewOf({ ...spread, merchants, exponent, isolated })
          return `${skew.toFixed(2)} (${Math.round(carried(spread.workers, skew))}/s)`
        })
        return [`Zipf ${exponent}: 0, 1, 16 isolated`, told.join(', ')]
      })
      return { ...spread, merchants, ...Object.fromEntries(cells) }
    }),
  )
  console.table(rows)
}

/** Orders a second until the fullest worker or the coordinator is full. */
function carried(count: number, skew: number): number {
  const evenly = capacityOf({ cores: count * coresOfWorker, parts: [workers] })
  return Math.min(evenly / skew, capacityOf({ cores: coresOfCoordinator, parts: [coordinator] }))
}

/** Predicted and measured, at shares of what the cores of this machine carry, which all parts have in common. */
async function hold(): Promise<void> {
  const shared = (generator: Demand): Station[] => [
    { name: 'event loop', cores: 1, parts: [eventLoop] },
    { name: 'cores', cores: availableParallelism(), parts: [eventLoop, threadPool, database, generator] },
  ]
  const most = capacityOf(bottleneck(shared({ orderMs: 0.8, transactionMs: 0 })))
  const levels = await measure(
    [0.05, 0.3, 0.5, 0.7, 0.85, 1.3].map((share) => share * most),
    { seconds: 7 },
  )
  console.table(
    levels.map(({ perSecond, carriedPerSecond, transactionsAnOrder, spent, createMs }) => {
      const stations = shared({ orderMs: spent.generator, transactionMs: 0 })
      const predicted = predict(stations, { perSecond })
      const measuredMs = [spent.eventLoop, Object.values(spent).reduce((sum, ms) => sum + ms, 0)]
      const told = (figures: readonly number[], digits = 0) =>
        figures.map((figure) => figure.toFixed(digits)).join(' / ')
      const percents = stations.map((station, index) => {
        const byCost = utilisationOf(station, { perSecond, transactionsAnOrder })
        const measured = ((measuredMs[index] ?? Number.NaN) * perSecond) / 1_000 / station.cores
        const expected = predicted.utilisations[index] ?? Number.NaN
        return [`${station.name}, %`, told([expected * 100, byCost * 100, measured * 100])]
      })
      return {
        'orders/s': told([perSecond]),
        'of capacity, %': told([(perSecond / most) * 100]),
        'carried/s': told([carriedPerSecond]),
        'transactions an order': told([predicted.transactionsAnOrder, transactionsAnOrder], 1),
        ...Object.fromEntries(percents),
        'create p50, ms': told([predicted.createMs.p50, createMs.p50], 1),
        'create p95, ms': told([predicted.createMs.p95, createMs.p95], 1),
      }
    }),
  )
  console.log(
    'predicted / measured; of utilisation also, between them, what the measured transactions should cost',
  )
  console.log('processor time of an order in ms: fitted to these levels, and in the model')
  for (const part of ['eventLoop', 'threadPool', 'database'] as const)
    console.log(part, fitDemand(levels, part), demands[part])
}

/** Least squares over transactions an order. */
function fitDemand(levels: readonly Level[], part: keyof Level['spent']): Demand {
  const mean = (value: (level: Level) => number) =>
    levels.reduce((sum, level) => sum + value(level), 0) / levels.length
  const meanCount = mean((level) => level.transactionsAnOrder)
  const meanMs = mean((level) => level.spent[part])
  const transactionMs =
    mean((level) => (level.transactionsAnOrder - meanCount) * (level.spent[part] - meanMs)) /
    mean((level) => (level.transactionsAnOrder - meanCount) ** 2)
  return { orderMs: meanMs - transactionMs * meanCount, transactionMs }
}
