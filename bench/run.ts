// `npm run bench`: every scenario beside its yardstick, in one run, as a table of ratios. `--quick` is the same with
// less of everything, in three minutes; `--only delivery,create` runs some; `--runs 3` runs all of it three times and
// tells the medians; `--keep` writes them to results.json; `--soak 10` looks for growth instead; `--minutes 1` shortens
// `neighbors`; `--layers` shows what each layer of a create costs beside its budget.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { wholeOption } from '../reliability/support/whole-option.ts'
import { measureLayers } from './layers/measure.ts'
import { isMet, type Row, type Scenario, type Size } from './scenario.ts'
import { checkout } from './scenarios/checkout.ts'
import { deadHosts } from './scenarios/dead-hosts.ts'
import { delivery } from './scenarios/delivery.ts'
import { expiry } from './scenarios/expiry.ts'
import { create, query, single, straightforward } from './scenarios/merchant-api.ts'
import { neighbors } from './scenarios/neighbors.ts'
import { orderSize } from './scenarios/order-size.ts'
import { overload } from './scenarios/overload.ts'
import { paidOrders } from './scenarios/paid-orders.ts'
import { payouts } from './scenarios/payouts.ts'
import { processes } from './scenarios/processes.ts'
import { rails } from './scenarios/rails.ts'
import { reconciliation } from './scenarios/reconciliation.ts'
import { startAndMemory } from './scenarios/start-and-memory.ts'
import { stored } from './scenarios/stored.ts'
import { soak } from './soak.ts'
import { makeWorld } from './world.ts'
import { ensureYardsticks } from './yardsticks.ts'

const scenarios: Record<string, Scenario> = {
  create,
  query,
  single,
  express: straightforward,
  paid: paidOrders,
  rails,
  delivery,
  'dead-hosts': deadHosts,
  neighbors,
  stored,
  expiry,
  payouts,
  reconciliation,
  checkout,
  overload,
  start: startAndMemory,
  size: orderSize,
  processes,
}

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    soak: { type: 'string' },
    minutes: { type: 'string' },
    runs: { type: 'string', default: '1' },
    keep: { type: 'boolean' },
    layers: { type: 'boolean' },
  },
})
const isQuick = values.quick === true
const runCount = wholeOption('runs', values.runs, { least: 1 })
if (values.keep && (isQuick || values.only !== undefined || values.minutes !== undefined)) {
  console.error('Only whole runs are kept: leave out --quick, --only and --minutes.')
  process.exit(2)
}
const minutes =
  values.minutes === undefined ? undefined : wholeOption('minutes', values.minutes, { least: 1 })
const size: Size = { isQuick, minutes, of: (full, quick) => (isQuick ? quick : full) }
const wanted = values.only?.split(',') ?? Object.keys(scenarios)
const unknown = wanted.filter((name) => !(name in scenarios))
if (unknown.length > 0) {
  console.error(
    `There is no scenario ${unknown.join(', ')}. There are: ${Object.keys(scenarios).join(', ')}.`,
  )
  process.exit(2)
}

ensureYardsticks()
const began = performance.now()
const runs: Row[][] = []
const world = await makeWorld()
try {
  if (values.layers) process.exitCode = (await measureLayers(world)) ? 0 : 1
  else if (values.soak !== undefined) await soak(world, Number(values.soak))
  else await measureAll()
} finally {
  await world.clear()
  await world.close()
}

async function measureAll(): Promise<void> {
  for (let run = 0; run < runCount; run++) {
    const rows: Row[] = []
    for (const name of wanted) rows.push(...(await measure(scenarios[name] as Scenario)))
    runs.push(rows)
    const tookSeconds = Math.round((performance.now() - began) / 1_000)
    console.log(`\n${tookSeconds} s in all\n`)
    keep(medianRows(), tookSeconds)
  }
  const rows = medianRows()
  if (runs.length > 1) for (const row of rows) tell(row)
  if (rows.some(({ isGoalMet }) => isGoalMet === false)) process.exitCode = 1
}

/** Of each row that of the run whose ratio is in the middle. */
function medianRows(): readonly Row[] {
  return (runs[0] ?? []).map((first, index) => {
    const sorted = runs
      .map((rows) => rows[index] ?? first)
      .toSorted((a, b) => (a.ratio ?? 0) - (b.ratio ?? 0))
    const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? first
    return { ...middle, ofRuns: sorted.map(({ ratio, ours }) => ratio?.toFixed(2) ?? ours) }
  })
}

async function measure(scenario: Scenario): Promise<Row[]> {
  const results = await scenario.run(world, size)
  await world.clear()
  return results.map((measured) => {
    const goal = measured.goal ?? scenario.goal
    const row = {
      ...measured,
      ...(goal && { goal }),
      name: [scenario.name, measured.part].filter(Boolean).join(': '),
      against: scenario.yardstick,
      isGoalMet: goal && measured.ratio !== undefined ? isMet(goal, measured.ratio) : undefined,
    }
    tell(row)
    return row
  })
}

function tell({ name, ratio, goal, isGoalMet, ours, yardstick, note, ofRuns }: Row): void {
  const mark = isGoalMet === undefined ? ' ' : isGoalMet ? '✔' : '✘'
  const of = goal ? ` (${goal.bound} ${goal.ratio})` : ''
  const beside = yardstick === '' ? ours : `${ours} beside ${yardstick}`
  console.log(`${mark} ${name.padEnd(58)} ${(ratio?.toFixed(2) ?? '').padStart(5)}${of.padEnd(16)} ${beside}`)
  const said = ofRuns ? `of ${ofRuns.join(', ')}` : note
  if (said) console.log(`    ${said}`)
}

/** What docs/performance.md shows; `node scripts/documentation.ts` puts it there. */
function keep(rows: readonly Row[], tookSeconds: number): void {
  if (!values.keep) return
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model ?? process.arch}, ${process.arch}, Node ${process.versions.node}`
  const result = { at: new Date().toISOString(), machine, tookSeconds, runs: runs.length, rows }
  writeFileSync(join(import.meta.dirname, 'results.json'), `${JSON.stringify(result, null, 2)}\n`)
}
