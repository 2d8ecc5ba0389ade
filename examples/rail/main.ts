// Starts the test bank. A sandbox that runs it beside itself holds its standard input open, so that the bank ends with
// the sandbox.
import { isWebhookSecret } from '@tillgate/protocol'
import { openBank } from './server.ts'

const { env } = process
const port = Number(env['RAIL_PORT'] ?? 8083)
const url = env['RAIL_URL'] ?? `http://localhost:${port}`
const secrets = (env['RAIL_SECRET'] ?? '').split(',')
if (!secrets.every(isWebhookSecret)) {
  process.stderr.write('Set RAIL_SECRET to the secret that the gateway signs with: whsec_…\n')
  process.exit(78)
}

const server = openBank({ url, secrets, journalPath: env['RAIL_JOURNAL'] })
server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
  const reason = code === 'EADDRINUSE' ? `port ${port} is taken by another program` : message
  process.stderr.write(`The test bank cannot open: ${reason}.\n`)
  process.exit(69)
})
server.listen(port, env['RAIL_HOST'] ?? '127.0.0.1', () =>
  process.stdout.write(`The test bank is open: ${url}\n`),
)
if (env['RAIL_BESIDE_GATEWAY']) process.stdin.resume().once('end', () => process.exit())
