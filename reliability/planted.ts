// npm run planted [-- name…]
// Puts each planted bug into a copy of the tree and lets the programme look for it. A bug that is not caught means that
// the programme has a blind spot, and ends this with code 1.
import { startTestServer, urlOf } from '../packages/gateway/test/support/server.ts'
import { bugs } from './planted/bugs.ts'
import { type Bug, plant, readSources, writeSources } from './planted/plant.ts'
import { serverSettings } from './simulation/due.ts'
import { type Ended, runGroup } from './support/process-group.ts'
import { inTreeCopy } from './support/tree-copy.ts'

/** What a run of a test or of the simulation may take. */
const timeoutMs = 480_000
const simulation = [
  'reliability/simulate.ts',
  '--seed',
  '1',
  '--seeds',
  '120',
  '--days',
  '10',
  '--until-failure',
]
const fineWithout = new Map<string, boolean>()
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

const wanted = process.argv.slice(2)
const chosen = Object.entries(bugs).filter(([name]) => wanted.length === 0 || wanted.includes(name))
for (const name of wanted.filter((each) => !(each in bugs))) console.log(`There is no planted bug "${name}".`)
// One server for all: whatever is killed leaves none behind.
const server = await startTestServer(serverSettings)
const missed: string[] = []
const startedAtMs = performance.now()
try {
  for (const [name, bug] of chosen) if (!(await isCaught(name, bug))) missed.push(name)
} finally {
  await server.stop()
}
console.log(
  `${chosen.length - missed.length} of ${chosen.length} planted bugs were caught, in ${secondsSince(startedAtMs)} s.`,
)
if (missed.length > 0 || chosen.length === 0) process.exitCode = 1

async function isCaught(name: string, bug: Bug): Promise<boolean> {
  const by = bug.caughtBy
  // Whoever finds trouble without the bug as well has not found the bug.
  if (by !== 'simulation' && !(await isFineWithout(by)))
    throw new Error(`${by} fails without any planted bug`)
  const startedAtMs = performance.now()
  const ended = await inCopy(by, bug)
  const words = firstLines(ended.output, by === 'simulation' ? /FAILED|^ {2}\S/ : /^\s*✖ /)
  // A run that broke before it could look says nothing of what is wrong.
  const caught = ended.kind === 'exited' && ended.code === 1 && words !== ''
  const how = caught ? `caught ${name} by ${by}` : `MISSED ${name} by ${by}, which ${wordsOf(ended)}`
  console.log(`${how} in ${secondsSince(startedAtMs)} s${caught ? `\n${words}` : ''}`)
  return caught
}

async function isFineWithout(by: Bug['caughtBy']): Promise<boolean> {
  const known = fineWithout.get(by) ?? isFine(await inCopy(by))
  fineWithout.set(by, known)
  return known
}

/** Runs the simulation or a test file in a copy of the tree, with the bug if there is one. */
function inCopy(by: Bug['caughtBy'], bug?: Bug): Promise<Ended> {
  return inTreeCopy(async (tree) => {
    if (bug) writeSources(tree, plant(readSources(tree), bug))
    const args = by === 'simulation' ? simulation : ['scripts/test.ts', `packages/gateway/test/**/${by}`]
    const environment = { ...process.env, TEST_DATABASE_URL: urlOf(server.connection) }
    const ended = await runGroup('node', args, { tree, environment, timeoutMs, signal: stopping.signal })
    if (stopping.signal.aborted) throw new Error('It was broken off.')
    return ended
  })
}

function isFine(ended: Ended): boolean {
  return ended.kind === 'exited' && ended.code === 0
}

function wordsOf(ended: Ended): string {
  return ended.kind === 'exited' ? `ended with ${ended.code}` : `was not done after ${timeoutMs / 1000} s`
}

function secondsSince(ms: number): string {
  return ((performance.now() - ms) / 1000).toFixed(1)
}

function firstLines(text: string, wantedLine: RegExp): string {
  return text
    .split('\n')
    .filter((line) => wantedLine.test(line))
    .slice(0, 3)
    .map((line) => `    ${line.trim()}`)
    .join('\n')
}
