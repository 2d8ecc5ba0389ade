// The operator's command line: `npm run tillgate -- --help`.
import './check-node.js'
import { keepCompiledCode } from './compile-cache.js'

keepCompiledCode({ isMakingDataDir: false })
await import('./src/faces/cli/main.ts')
