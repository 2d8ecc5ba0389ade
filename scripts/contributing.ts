// node scripts/contributing.ts [--all] [--only test:unit …] [--minutes 60]
// Runs the commands of CONTRIBUTING.md in a fresh clone of the newest commit, with nothing of this checkout on the way to
// it, and reports each with its time. By default the short ones; --all adds those that take minutes, and install Debian's
// packages or whole shop systems; what needs more than a bare machine is skipped with the reason. Ends with code 1 when a
// command failed, did not end in time, or left changes in the clone.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { commandsOf, skippedFor } from './contributing/commands.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '60' },
  },
})
const limitMs = Number(values.minutes) * 60_000
const commands = commandsOf(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))

const home = mkdtempSync(join(tmpdir(), 'tillgate-contributing-'))
const clone = join(home, 'tillgate')
process.once('exit', () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
execFileSync('git', ['clone', '--quiet', root, clone])

interface Result {
  readonly command: string
  readonly result: string
  readonly seconds: number
}

const results: Result[] = []
for (const command of commands) {
  const { line } = command
  const reason = skippedFor(command, { all: values.all, only: values.only, environment: process.env })
  if (reason !== undefined) {
    results.push({ command: line, result: `skipped: ${reason}`, seconds: 0 })
    continue
  }
  console.log(`\n$ ${line}`)
  const began = performance.now()
  const result = await run(line)
  results.push({ command: line, result, seconds: Math.round((performance.now() - began) / 1000) })
  // Without its packages nothing else can pass.
  if (line === 'npm ci' && result !== 'passed') break
}
const changed = execFileSync('git', ['-C', clone, 'status', '--porcelain'], { encoding: 'utf8' })
if (changed !== '') results.push({ command: 'git status', result: `changed: ${changed.trim()}`, seconds: 0 })
console.table(results)
process.exit(results.every(({ result }) => /^(passed|skipped)/.test(result)) ? 0 : 1)

async function run(line: string): Promise<string> {
  const child = spawn('sh', ['-c', line], {
    cwd: clone,
    env: cleanEnvironment(),
    stdio: 'inherit',
    detached: true,
  })
  const { promise, resolve } = Promise.withResolvers<string>()
  child.once('error', (error) => resolve(error.message))
  child.once('exit', (code, signal) => resolve(code === 0 ? 'passed' : `failed (${signal ?? code})`))
  const timer = setTimeout(() => {
    resolve(`did not end in ${values.minutes} minutes`)
    // Safe: a child that was started has a number.
    process.kill(-(child.pid as number), 'SIGKILL')
  }, limitMs)
  return promise.finally(() => clearTimeout(timer))
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_(?!EXTRA_CA_CERTS)|DATA_DIR$|DATABASE_URL$|TEST_(?!CITUS_URLS))/.test(name),
  )
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((part) => !part.includes('node_modules'))
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) }
}
