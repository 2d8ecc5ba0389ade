// The gateway as a child of a benchmark: the same parts as `npm start`, loaded in the same way, and it tells where it listens.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { systemClock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import { loadPart } from '../../packages/gateway/src/platform/runtime/node-workarounds/compiled-code.ts'
import {
  keepYoungSpaceSmall,
  letYoungSpaceGrow,
} from '../../packages/gateway/src/platform/runtime/node-workarounds/young-space.ts'

enableCompileCache(join(process.env['DATA_DIR'] ?? '', 'compile-cache'))
keepYoungSpaceSmall()
const { startGateway } = await loadPart(() => import('../../packages/gateway/src/app/gateway.ts'))
const { makeLog } = await import('../../packages/gateway/src/platform/runtime/log.ts')
const { readConfig } = await import('../../packages/gateway/src/app/settings/config.ts')

const config = readConfig(process.env)
const gateway = await startGateway(config, {
  log: await makeLog(config),
  clock: systemClock,
  report: () => {},
  signal: new AbortController().signal,
})
letYoungSpaceGrow()
process.once('SIGTERM', () => gateway.stop().then(() => process.disconnect()))
process.send?.(gateway.publicUrl)
