// The gateway as a child of a benchmark: the same parts as `npm start`, and it tells where it listens.

import { startGateway } from '../../packages/gateway/src/app/gateway.ts'
import { systemClock } from '../../packages/gateway/src/platform/clock.ts'
import { makeLog } from '../../packages/gateway/src/platform/log.ts'
import { readConfig } from '../../packages/gateway/src/settings/config.ts'

const config = readConfig(process.env)
const gateway = await startGateway(config, {
  log: await makeLog(config),
  clock: systemClock,
  tell: () => {},
  signal: new AbortController().signal,
})
process.once('SIGTERM', () => gateway.stop().then(() => process.disconnect()))
process.send?.(gateway.publicUrl)
