// npm run release -- --dry-run [--out release] [--without-plugins]
// Makes everything of a release but its publication, from a clean clone of the newest commit: packages, clients, plugins,
// the list of parts (SBOM), checksums, provenance, and the proof that the package runs where there is no repository.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    out: { type: 'string', default: 'release' },
    'without-plugins': { type: 'boolean', default: false },
  },
})
if (!values['dry-run']) {
  console.error(
    'Publishing needs the accounts of a maintainer, so this script leaves it to a person.\n' +
      'Run `npm run release -- --dry-run`; PUBLISH.md in its result lists the commands.',
  )
  process.exit(2)
}

const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
if (git('status', '--porcelain') !== '')
  console.log('Changes that are not committed are not part of the release.')

const commit = git('rev-parse', 'HEAD')
const out = resolve(root, values.out)
const clone = mkdtempSync(join(tmpdir(), 'tillgate-release-'))
process.once('exit', () => rmSync(clone, { recursive: true, force: true, maxRetries: 5 }))
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })

step(`clone ${commit.slice(0, 8)}`, 'git', ['clone', '--quiet', '--no-checkout', root, clone])
step('check it out', 'git', ['-C', clone, 'checkout', '--quiet', '--detach', commit])
step('npm ci', 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
// From here on, the clone's own scripts and Node.js do the work.
step('build', join(clone, 'node_modules/.bin/node'), [
  '--disable-warning=ExperimentalWarning',
  'scripts/release/build.ts',
  out,
  ...(values['without-plugins'] ? ['--without-plugins'] : []),
])
console.log(`\nThe release is in ${out}. Nothing was published.`)

function step(title: string, command: string, args: readonly string[]): void {
  const began = performance.now()
  // NODE_ENV=production would leave out what builds the packages.
  const { NODE_ENV: _, ...env } = process.env
  const { status, error } = spawnSync(command, args, { cwd: clone, env, stdio: 'inherit' })
  if (error || status !== 0) {
    console.error(`✖ ${title}${error ? `: ${error.message}` : ''}`)
    process.exit(1)
  }
  console.log(`✔ ${title} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
}
