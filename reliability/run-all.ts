// npm run reliability -- [--only simulate …] [--short]
// Every programme after the other, each as its own command, and a table of how they ended. What they say goes to the
// terminal as they say it. Ends with code 1 when one of them did not end well; whatever fails, the others are run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'

interface Programme {
  /** Where it is not its name. */
  readonly script?: string
  readonly whole: readonly string[]
  readonly short: readonly string[]
}

/** What each is given: for a release, and in short to see that all of them work. */
const programmes: Readonly<Record<string, Programme>> = {
  simulate: { whole: ['--seeds', '2000'], short: ['--seeds', '3', '--days', '10'] },
  crash: { whole: ['--cycles', '300'], short: ['--cycles', '5'] },
  'crash-standby': {
    script: 'crash',
    whole: ['--cycles', '100', '--engine', 'standby'],
    short: ['--cycles', '3', '--engine', 'standby'],
  },
  // Where there is a cluster.
  ...(process.env['TEST_CITUS_URLS'] && {
    'crash-citus': {
      script: 'crash',
      whole: ['--cycles', '100', '--engine', 'citus'],
      short: ['--cycles', '3', '--engine', 'citus'],
    },
  }),
  faults: { whole: [], short: ['slow-database'] },
  fuzz: { whole: ['--minutes', '30'], short: ['--minutes', '1'] },
  timing: { whole: [], short: ['--only', 'process', '--samples', '1000'] },
  hostile: { whole: [], short: ['--seconds', '5', '--only', 'oversized requests'] },
  planted: { whole: [], short: ['missing-guard-in-the-update'] },
  mutate: { whole: [], short: ['money'] },
  upgrade: {
    whole: ['--planted', '--orders', '200000'],
    short: ['--planted', '--seconds', '2'],
  },
  'upgrade-embedded': {
    script: 'upgrade',
    whole: ['--planted', '--engine', 'embedded', '--stop-first'],
    short: ['--planted', '--engine', 'embedded', '--stop-first', '--orders', '500', '--seconds', '2'],
  },
  ...(process.env['TEST_CITUS_URLS'] && {
    'upgrade-citus': {
      script: 'upgrade',
      whole: ['--planted', '--engine', 'citus'],
      short: ['--planted', '--engine', 'citus', '--orders', '500', '--seconds', '2'],
    },
  }),
  soak: { whole: ['--minutes', '60'], short: ['--minutes', '1'] },
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
  },
})
const unknown = values.only?.filter((name) => !(name in programmes)) ?? []
if (unknown.length > 0) {
  console.error(`No such programme: ${unknown.join(', ')}. There are: ${Object.keys(programmes).join(', ')}.`)
  process.exit(2)
}

const rows: { programme: string; ended: string; minutes: string; 'said last': string }[] = []
for (const [name, given] of Object.entries(programmes)) {
  if (values.only && !values.only.includes(name)) continue
  const args = values.short ? given.short : given.whole
  const { script = name } = given
  console.log(`\n• npm run ${[script, '--', ...args].join(' ')}`)
  const startedAtMs = performance.now()
  const { code, lastLine } = await run(script, args)
  rows.push({
    programme: name,
    ended: code === 0 ? 'well' : `with code ${code}`,
    minutes: ((performance.now() - startedAtMs) / 60_000).toFixed(1),
    'said last': lastLine.slice(0, 120),
  })
}
console.log('')
console.table(rows)
process.exit(rows.every(({ ended }) => ended === 'well') ? 0 : 1)

async function run(script: string, args: readonly string[]): Promise<{ code: number; lastLine: string }> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/${script}.ts`, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let last = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text)
    last = `${last}${text}`.slice(-2_000)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? 1, lastLine: last.trimEnd().split('\n').at(-1) ?? '' }
}
