// The operator's command line: `npm run tillgate -- --help`.
import './check-node.js'
import { keepCompiledCode } from './compile-cache.js'

keepCompiledCode({ isMakingDataDir: false })
const { runCommandLine } = await import('./src/app/command-line.ts')
await runCommandLine()
