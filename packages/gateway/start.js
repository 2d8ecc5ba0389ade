// Starts the gateway: `npm start`.
import './check-node.js'
import { availableParallelism } from 'node:os'
import { keepCompiledCode, warningOfNpm } from './compile-cache.js'

keepCompiledCode({ isMakingDataDir: true })
// Once, not by each of several processes.
if (!process.send) process.stderr.write(warningOfNpm() ?? '')

// Signatures are made on the thread pool: one thread a core, and never fewer than Node.js has by itself. It is read
// when the pool is first used, so it is set before anything else is loaded.
process.env.UV_THREADPOOL_SIZE ??= String(Math.max(4, availableParallelism()))

const { keepYoungSpaceSmall, letYoungSpaceGrow } = await import(
  './src/platform/runtime/node-workarounds/young-space.ts'
)
keepYoungSpaceSmall()
// Over when the gateway is started.
await import('./src/main.ts')
letYoungSpaceGrow()
