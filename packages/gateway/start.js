// Starts the gateway: `npm start`.
import './check-node.js'

await import('./src/main.ts')
