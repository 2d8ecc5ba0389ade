// npm run crash -- --cycles 200 [--seed 1] [--shoppers 8] [--processes 1,2,3] [--engine embedded|standby|citus]
// npm run crash -- --every-fsync
// The real program under load, on its own PostgreSQL, on a primary with a standby (Debian's packages), or on a cluster
// (TEST_CITUS_URLS), killed at random moments, or at every moment at which something is made durable; then everything that
// was acknowledged is compared with what is stored and what arrived. Ends with code 1 when they differ.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureOpsPackages } from '../scripts/ops-packages.ts'
import { citusEngine } from './crash/engines/citus.ts'
import { embeddedEngine } from './crash/engines/embedded.ts'
import type { Engine } from './crash/engines/engine.ts'
import { runEverySync } from './crash/every-sync.ts'
import { runFirstStartSyncs } from './crash/first-start-syncs.ts'
import { runCycles } from './crash/run-cycles.ts'
import { missingTool } from './support/debian-tools.ts'
import { wholeOption } from './support/whole-option.ts'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    shoppers: { type: 'string', default: '8' },
    processes: { type: 'string', default: '1,2,3' },
    engine: { type: 'string', default: 'embedded' },
    'every-fsync': { type: 'boolean', default: false },
  },
})
const home = await mkdtemp(join(tmpdir(), 'tillgate-crash-'))
const dataDir = join(home, 'data')
const tell = (line: string) => console.log(line)
const { violations, ...figures } = values['every-fsync'] ? await everySync() : await cycles()
console.log(JSON.stringify(figures))
for (const violation of violations) console.log(`WRONG: ${violation}`)
if (violations.length === 0) await rm(home, { recursive: true, force: true, maxRetries: 5 })
else console.log(`The data is kept in ${home}`)
process.exit(violations.length === 0 ? 0 : 1)

async function cycles() {
  const engine = await openEngine(values.engine)
  return runCycles({
    dataDir,
    engine,
    cycles: wholeOption('cycles', values.cycles, { least: 1 }),
    seed: wholeOption('seed', values.seed, { least: 0 }),
    shoppers: wholeOption('shoppers', values.shoppers, { least: 1 }),
    processes: values.processes.split(',').map((each) => wholeOption('processes', each, { least: 1 })),
    endsClaims: false,
    tell,
  }).finally(() => engine.close())
}

async function openEngine(name: string): Promise<Engine> {
  const urls = process.env['TEST_CITUS_URLS']
  if (name === 'embedded') return embeddedEngine(dataDir)
  if (name === 'standby') {
    const missing = ensureOpsPackages(['postgresql', 'postgresql-client'])
    if (missing !== undefined) return fail(missing)
    // Loaded where it is wanted: it makes a folder for its servers.
    const { standbyEngine } = await import('./crash/engines/standby.ts')
    return standbyEngine(dataDir)
  }
  if (name !== 'citus') return fail(`--engine must be embedded, standby or citus; it is "${name}".`)
  if (!urls)
    return fail('Set TEST_CITUS_URLS to the coordinator and its workers: postgresql://… postgresql://…')
  return citusEngine(dataDir, urls)
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

async function everySync() {
  const missing = missingTool('strace')
  if (missing !== undefined) return fail(`A kill at every fsync needs strace: ${missing}`)
  const firstStart = await runFirstStartSyncs({ home, tell })
  const server = await runEverySync({ dataDir, tell })
  return {
    ...server,
    violations: [...firstStart.violations, ...server.violations],
    kills: { ...server.kills, 'first start': firstStart.kills },
  }
}
