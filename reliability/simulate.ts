// npm run simulate -- --seed 42 --days 30 [--seeds 1000] [--log] [--until-failure]
// Runs seeds one after the other and ends with code 1 when one of them breaks what must be true; it says which, and how
// to see it again.
import { parseArgs } from 'node:util'
import { serverSettings } from './simulation/due.ts'
import { runSeed } from './simulation/run-seed.ts'
import { openThrowawayDatabase } from './support/throwaway-database.ts'
import { wholeOption } from './support/whole-option.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    days: { type: 'string', default: '30' },
    log: { type: 'boolean', default: false },
    'until-failure': { type: 'boolean', default: false },
  },
})
const first = wholeOption('seed', values.seed, { least: 0 })
const seeds = wholeOption('seeds', values.seeds, { least: 1 })
const days = wholeOption('days', values.days, { least: 2 })
const database = await openThrowawayDatabase(serverSettings)
const totals = {
  steps: 0,
  orders: 0,
  arrivals: 0,
  attempts: 0,
  disputes: 0,
  ownMoves: 0,
  deaths: 0,
  connectionsLost: 0,
  pauses: 0,
  jumps: 0,
}
const failed: number[] = []
const startedAtMs = performance.now()

let tried = 0

for (let seed = first; seed < first + seeds; seed++) {
  if (failed.length > 0 && values['until-failure']) break
  tried += 1
  const ran = await runSeed(database.pool, { seed, days }, values.log ? console.log : undefined)
  const { steps, orders, arrivals, attempts, disputes, ownMoves } = ran
  for (const [name, count] of Object.entries({
    steps,
    orders,
    arrivals,
    attempts,
    disputes,
    ownMoves,
    ...ran.faults,
  }))
    totals[name as keyof typeof totals] += count
  if (ran.violations.length > 0) {
    failed.push(seed)
    console.log(`seed ${seed} FAILED, digest ${ran.digest}`)
    for (const violation of ran.violations) console.log(`  ${violation}`)
    console.log(`  again: npm run simulate -- --seed ${seed} --days ${days} --log`)
  } else if (seeds === 1)
    console.log(`seed ${seed} is fine, digest ${ran.digest}${ran.isContended ? ' (contended)' : ''}`)
}

await database.close()
const seconds = (performance.now() - startedAtMs) / 1000
console.log(
  `${tried - failed.length} of ${tried} seeds of ${days} days are fine, ${(seconds / tried).toFixed(2)} s each: ` +
    Object.entries(totals)
      .map(([name, count]) => `${count} ${name}`)
      .join(', '),
)
if (failed.length > 0) process.exitCode = 1
