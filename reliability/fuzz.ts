// npm run fuzz -- --minutes 5 [--seed 1] [--target "api envelope"] [--replay FILE]
// Changes valid messages in every way and sends them to all that reads messages, for as long as it is told. Ends with
// code 1 when something broke; the input is then in a file, and --replay runs that file alone.
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { openTestGateway } from '../packages/gateway/test/support/gateway.ts'
import { urlOf } from '../packages/gateway/test/support/server.ts'
import { Coverage } from './fuzz/coverage.ts'
import { type Fuzzed, shrink, type Target } from './fuzz/guided.ts'
import { allTargets, runFuzz } from './fuzz/run-fuzz.ts'
import { furnish, fuzzEnvironment, makeFuzzClock } from './fuzz/world.ts'
import { openThrowawayDatabase } from './support/throwaway-database.ts'
import { wholeOption } from './support/whole-option.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string' },
    replay: { type: 'string' },
  },
})
const minutes = wholeOption('minutes', values.minutes, { least: 0 })
const seed = wholeOption('seed', values.seed, { least: 0 })

const faults: string[] = []
process.on('uncaughtException', (error) => faults.push(`uncaught: ${error.stack}`))
const log = pino({ level: 'error' }, { write: (line: string) => faults.push(line) })

const dataDir = await mkdtemp(join(tmpdir(), 'tillgate-fuzz-'))
const database = await openThrowawayDatabase()
const gateway = await openTestGateway({
  pool: database.pool,
  place: { DATA_DIR: dataDir, DATABASE_URL: urlOf(database.connection) },
  environment: fuzzEnvironment,
  clock: makeFuzzClock(),
  log,
})
const { targets: all, close } = await allTargets(await furnish(gateway))
try {
  const targets = all.filter(({ name }) => values.target === undefined || name === values.target)
  if (targets.length === 0)
    throw new Error(`--target must be one of:\n${all.map(({ name }) => name).join('\n')}`)
  if (values.replay === undefined) await fuzz(targets)
  else await replay(targets, values.replay)
} finally {
  await close()
  await gateway.stop()
  await database.close()
  await rm(dataDir, { recursive: true, force: true })
}
for (const fault of faults) console.log(`FAULT: ${fault}`)
process.exit(process.exitCode ?? (faults.length === 0 ? 0 : 1))

async function fuzz(targets: readonly Target[]): Promise<void> {
  const coverage = new Coverage()
  await coverage.start()
  const results = await runFuzz(targets, {
    seed,
    coverage,
    isEnough: ({ tookMs }) => faults.length > 0 || tookMs > (minutes * 60_000) / targets.length,
    tell({ target, runs, kept, outcomes }) {
      const told = Object.entries(outcomes).map(([outcome, count]) => `${outcome} ${count}`)
      console.log(`${target}: ${runs} inputs, ${kept} kept, ${coverage.functions} functions reached so far`)
      console.log(`  ${told.join(', ')}`)
    },
  })
  coverage.stop()
  const runs = results.reduce((sum, each) => sum + each.runs, 0)
  console.log(`${runs} inputs in all, seed ${seed}`)
  for (const result of results) if (result.failure) await report(targets, result)
}

async function report(targets: readonly Target[], { target: name, failure }: Fuzzed): Promise<void> {
  const target = targets.find((each) => each.name === name)
  if (!target || !failure) return
  const input = await shrink(target, failure)
  const file = join(tmpdir(), `tillgate-fuzz-${seed}-${Date.now()}.input`)
  writeFileSync(file, input)
  console.log(`WRONG in "${name}": ${failure.error instanceof Error ? failure.error.stack : failure.error}`)
  console.log(`${input.length} bytes: ${JSON.stringify(input.toString('latin1').slice(0, 500))}`)
  console.log(`Again: npm run fuzz -- --target "${name}" --replay ${file}`)
  process.exitCode = 1
}

async function replay(targets: readonly Target[], file: string): Promise<void> {
  const [target] = targets
  if (!target || targets.length > 1)
    throw new Error('--replay needs --target: the file belongs to one of them')
  console.log(`${target.name}: ${await target.run(readFileSync(file))}`)
}
