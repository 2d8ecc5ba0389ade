// npm run upgrade -- --from v1.0.0 [--planted] [--engine embedded|external|citus] [--stop-first] [--orders 200000]
//                    [--shoppers 4] [--seconds 5] [--release PATH]
// The gateway of another release under load on a filled database, upgraded to this one. The release is cloned from this
// repository's history and gets the packages of its own lock file; or a checkout that has them is named by --release.
// --planted upgrades to a release that is not there yet, by default from this one.
// Ends with code 1 when something acknowledged was lost, the books do not balance, or a gateway answered 50000.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './support/tree-copy.ts'
import { wholeOption } from './support/whole-option.ts'
import { engineNames } from './upgrade/engines.ts'
import { withPlantedRelease } from './upgrade/planted-release.ts'
import { openRelease } from './upgrade/release.ts'
import { runUpgrade } from './upgrade/run-upgrade.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    release: { type: 'string' },
    planted: { type: 'boolean', default: false },
    engine: { type: 'string', default: 'external' },
    'stop-first': { type: 'boolean', default: false },
    orders: { type: 'string', default: '10000' },
    shoppers: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '5' },
  },
})
const engine = engineNames.find((name) => name === values.engine)
if (!engine) fail(`--engine must be ${engineNames.join(', ')}; it is "${values.engine}".`)
if (!values.from && !values.release && !values.planted)
  fail(
    'Name the older release: --from COMMIT_OR_TAG, or --release PATH of a checkout; or upgrade to --planted.',
  )
if (engine === 'citus' && !process.env['TEST_CITUS_URLS'])
  fail('Set TEST_CITUS_URLS to the coordinator and its workers: postgresql://… postgresql://…')
const home = await mkdtemp(join(tmpdir(), 'tillgate-upgrade-'))
const release = await openRelease({
  commit: values.from,
  checkout: values.release ?? (values.from ? undefined : root),
})
const upgrade = (newTree?: string) =>
  runUpgrade({
    home,
    release,
    newTree,
    engine,
    orders: wholeOption('orders', values.orders, { least: 1 }),
    shoppers: wholeOption('shoppers', values.shoppers, { least: 1 }),
    seconds: wholeOption('seconds', values.seconds, { least: 1 }),
    stopFirst: values['stop-first'],
    tell: (line) => console.log(line),
  })
const { violations, failures, ...figures } = await (values.planted
  ? withPlantedRelease(upgrade)
  : upgrade()
).finally(() => release.remove())
console.log(JSON.stringify(figures, null, 2))
for (const violation of violations) console.log(`WRONG: ${violation}`)
for (const [what, times] of Object.entries(failures)) console.log(`WRONG: ${times} times ${what}`)
const isWell = violations.length + Object.keys(failures).length === 0
if (!isWell) console.log(`The data is kept in ${home}`)
else await rm(home, { recursive: true, force: true, maxRetries: 5 })
const pauseMs = figures.longestPauseMs.upgrade
console.log(`${isWell ? 'nothing was lost' : 'see above'}; the longest pause of creates was ${pauseMs} ms`)
process.exit(isWell ? 0 : 1)

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
