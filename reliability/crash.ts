// npm run crash -- --cycles 200 [--seed 1] [--shoppers 8] [--processes 1,2,3]
// The real program on its own PostgreSQL under load, killed at random moments, then everything that was acknowledged is
// compared with what is stored and what arrived. Ends with code 1 when they differ.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCycles } from './crash/run-cycles.ts'
import { wholeOption } from './support/whole-option.ts'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    shoppers: { type: 'string', default: '8' },
    processes: { type: 'string', default: '1,2,3' },
  },
})
const home = await mkdtemp(join(tmpdir(), 'tillgate-crash-'))
const { violations, ...figures } = await runCycles({
  dataDir: join(home, 'data'),
  cycles: wholeOption('cycles', values.cycles, { least: 1 }),
  seed: wholeOption('seed', values.seed, { least: 0 }),
  shoppers: wholeOption('shoppers', values.shoppers, { least: 1 }),
  processes: values.processes.split(',').map((each) => wholeOption('processes', each, { least: 1 })),
  endsClaims: false,
  tell: (line) => console.log(line),
})
console.log(JSON.stringify(figures))
for (const violation of violations) console.log(`WRONG: ${violation}`)
if (violations.length === 0) await rm(home, { recursive: true, force: true, maxRetries: 5 })
else console.log(`The data is kept in ${home}`)
process.exit(violations.length === 0 ? 0 : 1)
