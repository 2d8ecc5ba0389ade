// The operator's command line: `npm run tillgate -- --help`.
import './check-node.js'
import { keepCompiledCode, warningOfNpm } from './compile-cache.js'

keepCompiledCode({ isMakingDataDir: false })
process.stderr.write(warningOfNpm() ?? '')
const { runCommandLine } = await import('./src/app/command-line.ts')
await runCommandLine()
