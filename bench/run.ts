// `npm run bench`: every scenario beside its yardstick, in one run, as a table of ratios. `--quick` is the same with
// less of everything, in three minutes; `--only delivery,create` runs some; `--runs 3` runs all of it three times and
// keeps the medians; `--soak 10` looks for growth instead.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drawTable } from './picture.ts'
import { isMet, type Row, type Scenario, type Size } from './scenario.ts'
import { checkout } from './scenarios/checkout.ts'
import { deadHosts } from './scenarios/dead-hosts.ts'
import { delivery } from './scenarios/delivery.ts'
import { expiry } from './scenarios/expiry.ts'
import { create, query, single, straightforward } from './scenarios/merchant-api.ts'
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
    runs: { type: 'string' },
  },
})
const isQuick = values.quick === true
const size: Size = { isQuick, of: (full, quick) => (isQuick ? quick : full) }
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
const world = await makeWorld()
try {
  if (values.soak !== undefined) await soak(world, Number(values.soak))
  else await measureAll()
} finally {
  await world.clear()
  await world.close()
}

async function measureAll(): Promise<void> {
  const runs: Row[][] = []
  for (let run = 0; run < Number(values.runs ?? 1); run++) {
    const rows: Row[] = []
    for (const name of wanted) rows.push(...(await measure(scenarios[name] as Scenario)))
    runs.push(rows)
    const tookSeconds = Math.round((performance.now() - began) / 1_000)
    console.log(`\n${tookSeconds} s in all\n`)
    keep(medianRows(runs), tookSeconds)
  }
  const rows = medianRows(runs)
  if (runs.length > 1) for (const row of rows) tell(row)
  if (rows.some(({ isGoalMet }) => isGoalMet === false)) process.exitCode = 1
}

/** Of each row the one whose ratio is in the middle, with the ratios of all runs. */
function medianRows(runs: readonly (readonly Row[])[]): readonly Row[] {
  if (runs.length === 1) return runs[0] ?? []
  return (runs[0] ?? []).map((first, index) => {
    const sorted = runs
      .map((rows) => rows[index] ?? first)
      .toSorted((a, b) => (a.ratio ?? 0) - (b.ratio ?? 0))
    const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? first
    if (first.ratio === undefined) return { ...middle, note: sorted.map(({ ours }) => ours).join(', ') }
    return { ...middle, note: `of ${sorted.map(({ ratio }) => ratio?.toFixed(2)).join(', ')}` }
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

function tell({ name, ratio, goal, isGoalMet, ours, yardstick, note }: Row): void {
  const mark = isGoalMet === undefined ? ' ' : isGoalMet ? '✔' : '✘'
  const of = goal ? ` (${goal.bound} ${goal.ratio})` : ''
  const beside = yardstick === '' ? ours : `${ours} beside ${yardstick}`
  console.log(`${mark} ${name.padEnd(58)} ${(ratio?.toFixed(2) ?? '').padStart(5)}${of.padEnd(16)} ${beside}`)
  if (note) console.log(`    ${note}`)
}

/** A part of a run is not kept: the table stands for one whole run. */
function keep(rows: readonly Row[], tookSeconds: number): void {
  if (values.only !== undefined) return
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model ?? process.arch}, ${process.arch}, Node ${process.versions.node}`
  const result = { at: new Date().toISOString(), isQuick, machine, tookSeconds, rows }
  writeFileSync(join(folder, isQuick ? 'quick.json' : 'latest.json'), `${JSON.stringify(result, null, 2)}\n`)
  if (!isQuick)
    writeFileSync(join(import.meta.dirname, '../docs/images/benchmark.svg'), drawTable(rows, machine))
}
