// The whole of our checks as one list. `npm test` runs all but the slow ones; a word after it runs one part:
// `check` (lint, format, types), `unit`, `database`, `browser`, `slow`, or paths of test files. `ops` and `citus` stand
// apart: one needs Debian packages, the other a Citus cluster (TEST_CITUS_URLS).
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ensureChromium } from './chromium.ts'
import { ensureOpsPackages } from './ops-packages.ts'

const suites = {
  unit: [
    'packages/*/src/**/*.test.ts',
    'rails/*/src/*.test.ts',
    '{bench,reliability}/*/*.test.ts',
    'test/*.test.ts',
  ],
  database: [
    'packages/*/test/!(browser|cluster|ops|shops)/*.test.ts',
    'packages/*/test/*.test.ts',
    'rails/*/test/*.test.ts',
    'reliability/*.test.ts',
  ],
  browser: ['{packages,rails}/*/test/browser/*.test.ts'],
} as const
/**
 * Left out of `npm test`, which is waited for at every change: what looks at pages and papers in a browser beside the
 * checkout's own or walks over all of them, at samples and clients in other languages, at what developers of rails try and
 * check theirs with, at the packages as they are installed, at the program, its processes and its private PostgreSQL as
 * they are started, shared, replaced, backed up and given another master key, at the sandbox's file, its listener, its
 * sample orders and the demo shop, at a large statement, at money whatever statement the process dies at, and the short
 * forms of the long programmes.
 */
const slow = [
  'packages/gateway/test/api/early-answers.test.ts',
  'packages/gateway/test/browser/{checkout-looks,checkout-rails,checkout-speed,checkout-text,console*,docs,file-forms,from-empty-to-refund,gallery,home,hostile-text,links,passkey-attacks,passkeys,playground,portal,sandbox,shop,test-bank*,wallet,wallet-speed}.test.ts',
  'packages/gateway/test/console/page-marks.test.ts',
  'packages/gateway/test/database/{backup,embedded-{accounts,early,faults,sharing,start},key-rotation}.test.ts',
  'packages/gateway/test/{money/money,payouts/payout,rails/rail}-crash.test.ts',
  'packages/gateway/test/payouts/payout-kill.test.ts',
  'packages/gateway/test/processes/{client-packages,compile-cache,doctor,packed,process,processes,welcome}.test.ts',
  'packages/gateway/test/rails/{python-rail,rail-check,test-bank}.test.ts',
  'packages/gateway/test/reconciliation/large-statement.test.ts',
  'packages/gateway/test/sandbox/{demo-portal,sandbox-{listen,merchant,shop}}.test.ts',
  'packages/sdk/test/{clients,package,samples}.test.ts',
  'packages/gateway/test/wallet/erasure.test.ts',
  'rails/*/test/{browser/*,init,try}.test.ts',
  'reliability/{crash,faults,fuzz,planted-types,reconciliation,soak,upgrade}.test.ts',
  'test/{api-tabs,documentation-blocks,quickstart}.test.ts',
]
/**
 * Seconds that the longest files take on two cores; any other takes about two. They are shared out by it, the longest
 * first, so that no process is left over at the end.
 */
const seconds: Readonly<Record<string, number>> = {
  'reliability/simulation.test.ts': 100,
  'reliability/{crash,planted-types,reconciliation}.test.ts': 90,
  'packages/gateway/test/processes/process.test.ts': 80,
  'packages/sdk/test/clients.test.ts': 80,
  'packages/gateway/test/{browser/checkout,payouts/payout-kill,processes/compile-cache}.test.ts': 50,
  'packages/gateway/test/{{money/money,payouts/payout,rails/rail}-crash,processes/processes}.test.ts': 40,
  'packages/gateway/test/console/{admin-api,approvals}.test.ts': 30,
  'packages/gateway/test/console/{one-person,page-marks,provider-claims}.test.ts': 20,
  'packages/gateway/test/{api/api-limits,rails/late-races,reconciliation/own-lines,wallet/doors}.test.ts': 20,
  'packages/gateway/src/finance/reconciliation/read-file-in-thread.test.ts': 20,
  'packages/sdk/test/conform.test.ts': 20,
  'rails/*/test/*.test.ts': 8,
  'packages/gateway/test/{callbacks,links,orders,portal}/*.test.ts': 8,
  'packages/gateway/test/**/*.test.ts': 5,
}
const otherSeconds = 1
/** They measure the heap, which another file's garbage would change. */
const heapTests = [
  'packages/gateway/src/platform/{database/pool,runtime/node-workarounds/query-by-callback}.test.ts',
  'packages/gateway/test/{api/drain,callbacks/callback-queue}.test.ts',
  'packages/protocol/src/{signing,node-workarounds/crypto-jobs}.test.ts',
]
/** They measure how soon a page is painted, which files beside them would delay: one after the other, before all others. */
const timedTests = ['packages/gateway/test/browser/*-speed.test.ts']
const opsSuite = ['packages/*/test/ops/*.test.ts']
/** Installs a whole shop system, which takes minutes. */
const shopsSuite = ['packages/*/test/shops/*.test.ts']
/** On a Citus cluster: the database suite on spread tables, and what only a cluster can show. */
const citusSuite = ['packages/*/test/cluster/*.test.ts', ...suites.database]
/** They kill nodes of the cluster that all files share, so they run after the others. */
const citusKills = ['packages/*/test/cluster/killed-*.test.ts']
/** What is about the private PostgreSQL, makes databases of its own on one server, or breaks tables on purpose. */
const notOnCitus = [
  'packages/gateway/test/database/{backup,catalog,embedded-*,migrations}.test.ts',
  'packages/gateway/test/upgrade/*.test.ts',
  'rails/*/test/*.test.ts',
]

// They wait for sockets and disks more than they compute, so there may be more processes at once than cores.
const processesAtOnce = availableParallelism() + 1
/** More than run at once, so that all of them have work until the end. */
const processes = 5 * processesAtOnce

// The processes load much the same code: what one has compiled the next one takes (0.9 s instead of 1.7 s of processor
// time for each that starts a gateway).
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, '../node_modules/.cache/compiled')

const [wanted = 'all', ...rest] = process.argv.slice(2)

if (wanted === 'all' || wanted === 'check') {
  run('lint and format', 'biome', ['check', '--error-on-warnings', '.'])
  run('types', 'tsc', ['--project', 'tsconfig.json'])
}
if (wanted !== 'check') {
  if (wanted === 'citus' && !process.env['TEST_CITUS_URLS'])
    fail('Set TEST_CITUS_URLS to the coordinator and its workers: postgresql://… postgresql://…')
  const files = globSync(patterns(), { exclude: left() })
  if (files.length === 0) fail(`no test files for "${[wanted, ...rest].join(' ')}"`)
  if (files.some((file) => /\/(browser|shops)\//.test(file))) {
    const missing = ensureChromium()
    if (missing) fail(missing)
  }
  if (files.some((file) => file.includes('/ops/'))) {
    const missing = ensureOpsPackages()
    if (missing) fail(missing)
  }
  const folder = mkdtempSync(join(tmpdir(), 'tillgate-test-processes-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  const timed = files.filter((file) => globSync(timedTests).includes(file))
  const others = files.filter((file) => !timed.includes(file))
  if (timed.length > 0) runTests('tests that measure time', timed, 1)
  if (others.length > 0) runTests('tests', shareOut(others, folder))
  if (wanted === 'citus') runTests('tests that kill nodes', globSync(citusKills))
}

function runTests(title: string, modules: readonly string[], atOnce = processesAtOnce): void {
  run(title, 'node', [
    '--test',
    '--test-global-setup=test/global-setup.ts',
    `--test-concurrency=${atOnce}`,
    '--import=./test/file-timeout.ts',
    ...modules,
  ])
}

interface Share {
  readonly files: string[]
  seconds: number
}

/**
 * A module for each process. The slow ones, which kill servers and fill memory, and those that measure it have a process
 * each; of the others each goes where the least is to do.
 */
function shareOut(files: readonly string[], folder: string): string[] {
  const alone = new Set(globSync([...slow, ...heapTests]))
  const takes = new Map(
    Object.entries(seconds)
      .toReversed()
      .flatMap(([pattern, each]) => globSync(pattern).map((file) => [file, each])),
  )
  const secondsOf = (file: string) => takes.get(file) ?? otherSeconds
  const shares = Array.from({ length: processes }, (): Share => ({ files: [], seconds: 0 }))
  const single: Share[] = []
  for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a)))
    if (alone.has(file)) single.push({ files: [file], seconds: secondsOf(file) })
    else {
      const least = shares.reduce((found, each) => (each.seconds < found.seconds ? each : found))
      least.files.push(file)
      least.seconds += secondsOf(file)
    }
  const runFiles = JSON.stringify(resolve(import.meta.dirname, '../test/run-files.ts'))
  return [...single, ...shares]
    .filter(({ files }) => files.length > 0)
    .toSorted((a, b) => b.seconds - a.seconds)
    .map((share, at) => {
      // The runner starts them in the order of their names.
      const module = join(folder, `${String(at).padStart(3, '0')}.mjs`)
      const paths = JSON.stringify(share.files.map((file) => resolve(file)))
      writeFileSync(module, `import { runFiles } from ${runFiles}\nrunFiles(${paths})\n`)
      return module
    })
}

function left(): readonly string[] {
  if (wanted === 'all') return slow
  return wanted === 'citus' ? [...slow, ...notOnCitus, ...citusKills] : []
}

function patterns(): string[] {
  if (wanted === 'all') return Object.values(suites).flat()
  if (wanted === 'slow') return slow
  if (wanted === 'ops') return opsSuite
  if (wanted === 'shops') return shopsSuite
  if (wanted === 'citus') return citusSuite
  if (wanted in suites) return [...suites[wanted as keyof typeof suites]]
  return [wanted, ...rest]
}

function run(title: string, command: string, args: string[]): void {
  console.log(`\n• ${title}`)
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (error) fail(`${command}: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
