// npm run soak -- [--minutes 60] [--shoppers 4]
// An hour of ordinary life. Ends with code 1 when memory, open files, connections or disk grow out of proportion, or when
// something that was acknowledged is not there in the end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runSoak } from './soak/run-soak.ts'
import { wholeOption } from './support/whole-option.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, shoppers: { type: 'string', default: '4' } },
})
const looks = 60
const minutes = wholeOption('minutes', values.minutes, { least: 1 })
const home = await mkdtemp(join(tmpdir(), 'tillgate-soak-'))
const { violations, ...figures } = await runSoak({
  dataDir: join(home, 'data'),
  looks,
  lookEveryMs: (minutes * 60_000) / looks,
  shoppers: wholeOption('shoppers', values.shoppers, { least: 1 }),
  tell: console.log,
})
console.log(JSON.stringify(figures))
for (const violation of violations) console.log(`WRONG: ${violation}`)
await rm(home, { recursive: true, force: true, maxRetries: 5 })
console.log(violations.length === 0 ? `${minutes} minutes: fine` : `${minutes} minutes: NOT fine`)
process.exit(violations.length === 0 ? 0 : 1)
