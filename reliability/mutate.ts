// npm run mutate [-- part…]
// Changes the code a little in every way that Stryker knows, one change at a time, and asks whether the tests notice.
// Ends with code 1 where a part's tests notice fewer than nine in ten.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Part, type PartName, parts } from './mutation/parts.ts'
import { runGroup } from './support/process-group.ts'
import { inTreeCopy, root } from './support/tree-copy.ts'

const leastKilledPercent = 90
const timeoutMs = 15 * 60_000
const home = join(import.meta.dirname, 'mutation')
const cache = join(root, 'node_modules/.cache/mutation')

const asked = process.argv.slice(2)
const names = asked.length === 0 ? (Object.keys(parts) as PartName[]) : asked.filter(isPart)
const unknown = asked.filter((name) => !isPart(name))
if (unknown.length > 0) {
  console.error(`There is no part "${unknown.join('", "')}"; there are ${Object.keys(parts).join(', ')}.`)
  process.exit(1)
}
install()
mkdirSync(cache, { recursive: true })
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
const short: PartName[] = []
for (const name of names) if (!(await isWellTested(name))) short.push(name)
if (short.length > 0) {
  console.error(`Fewer than ${leastKilledPercent} % were noticed, or it did not end: ${short.join(', ')}.`)
  process.exitCode = 1
}

function isPart(name: string): name is PartName {
  return name in parts
}

/** Seventy megabytes that only this needs, so `npm ci` at the top leaves them out. */
function install(): void {
  if (existsSync(join(home, 'node_modules'))) return
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: home,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('npm ci failed in reliability/mutation')
}

/** In a copy and in place there, so that the packages find each other's mutated code. */
async function isWellTested(name: PartName): Promise<boolean> {
  console.log(`\n• ${name}`)
  const startedAtMs = performance.now()
  const ended = await inTreeCopy(async (tree) => {
    writeFileSync(join(tree, 'stryker.conf.json'), JSON.stringify(configurationOf(name)))
    const stryker = join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js')
    const args = [stryker, 'run', 'stryker.conf.json']
    return runGroup('node', args, { tree, environment: process.env, timeoutMs, signal: stopping.signal })
  })
  if (stopping.signal.aborted) throw new Error('It was broken off.')
  console.log(`${ended.output.trim()}\n${name}: ${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`)
  return ended.kind === 'exited' && ended.code === 0
}

function configurationOf(name: PartName): object {
  const { mutate, tests }: Part = parts[name]
  return {
    mutate,
    inPlace: true,
    testRunner: 'tap',
    plugins: [join(home, 'node_modules/@stryker-mutator/tap-runner/dist/src/index.js')],
    tap: {
      testFiles: tests,
      nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
      forceBail: true,
    },
    coverageAnalysis: 'perTest',
    // Node strips the types and looks at none of them.
    disableTypeChecks: false,
    concurrency: 2,
    reporters: ['clear-text'],
    clearTextReporter: { logTests: false, allowColor: false, reportTests: false },
    // What did not change since the last run is not tried again.
    incremental: true,
    incrementalFile: join(cache, `${name}.json`),
    thresholds: { high: 100, low: leastKilledPercent, break: leastKilledPercent },
  }
}
