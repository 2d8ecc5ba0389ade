// npm run planted [-- name…]
// Applies each planted bug to a copy of the tree and lets the programme look for it. A bug that is not caught means that
// the programme has a blind spot, and ends this with code 1.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const folder = join(import.meta.dirname, 'planted')
/** What a run of a test or of the simulation may take. */
const timeoutMs = 240_000
const simulation = [
  'reliability/simulate.ts',
  '--seed',
  '1',
  '--seeds',
  '40',
  '--days',
  '10',
  '--until-failure',
]
const leftOut = ['node_modules', '.git', 'data']
const fineWithout = new Map<string, boolean>()

const wanted = process.argv.slice(2)
const names = readdirSync(folder)
  .map((file) => basename(file, '.patch'))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
for (const name of wanted.filter((each) => !names.includes(each)))
  console.log(`There is no planted bug "${name}".`)
const missed = names.filter((name) => !isCaught(name))
console.log(`${names.length - missed.length} of ${names.length} planted bugs were caught.`)
if (missed.length > 0 || names.length === 0) process.exitCode = 1

function isCaught(name: string): boolean {
  const patch = join(folder, `${name}.patch`)
  const by = /^Caught by: (.+)$/m.exec(readFileSync(patch, 'utf8'))?.[1] ?? 'simulation'
  // Whoever finds trouble without the bug as well has not found the bug.
  if (by !== 'simulation' && !isFineWithout(by)) throw new Error(`${by} fails without any planted bug`)
  const startedAtMs = performance.now()
  const { status, stdout } = inCopy(by, patch)
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  const caught = status === 1
  const words = firstLines(stdout, by === 'simulation' ? /FAILED|^ {2}\S/ : /^\s*✖ /)
  console.log(`${caught ? 'caught' : 'MISSED'} ${name} by ${by} in ${seconds} s${caught ? `\n${words}` : ''}`)
  return caught
}

function isFineWithout(by: string): boolean {
  const known = fineWithout.get(by) ?? inCopy(by).status === 0
  fineWithout.set(by, known)
  return known
}

/** Runs the simulation or a test file in a copy of the tree, with the patch if there is one. */
function inCopy(by: string, patch?: string): { status: number | null; stdout: string } {
  const tree = mkdtempSync(join(tmpdir(), 'tillgate-planted-'))
  try {
    for (const part of readdirSync(root).filter((each) => !leftOut.includes(each)))
      cpSync(join(root, part), join(tree, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
    if (patch !== undefined) {
      const applied = spawnSync('git', ['apply', '-C1', patch], { cwd: tree, encoding: 'utf8' })
      if (applied.status !== 0) throw new Error(`${patch} does not fit the code any more: ${applied.stderr}`)
    }
    const args = by === 'simulation' ? simulation : ['scripts/test.ts', by]
    return spawnSync('node', args, { cwd: tree, encoding: 'utf8', timeout: timeoutMs })
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

function firstLines(text: string, wantedLine: RegExp): string {
  return text
    .split('\n')
    .filter((line) => wantedLine.test(line))
    .slice(0, 3)
    .map((line) => `    ${line.trim()}`)
    .join('\n')
}
