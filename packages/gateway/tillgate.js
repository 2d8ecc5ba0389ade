// The operator's command line: `npm run tillgate -- --help`.
import './check-node.js'

await import('./src/faces/cli/main.ts')
