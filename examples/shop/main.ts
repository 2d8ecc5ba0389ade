// Starts the shop with the credentials of a sandbox on this machine, or with those of the environment. A sandbox
// that runs it beside itself holds its standard input open, so that the shop ends with the sandbox.
import { Tillgate } from '@tillgate/sdk'
import { openShop } from './shop.ts'

const { env } = process
const port = Number(env['SHOP_PORT'] ?? 8082)
const url = env['SHOP_URL'] ?? `http://localhost:${port}`
const file = env['TILLGATE_CREDENTIALS'] ?? `${import.meta.dirname}/../../data/sandbox-merchant.json`
const tillgate = env['TILLGATE_MERCHANT_ID'] ? Tillgate.fromEnvironment() : Tillgate.fromFile(file)

const server = openShop({ tillgate, url, callbackUrl: env['SHOP_CALLBACK_URL'] ?? `${url}/callbacks` })
server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
  const reason = code === 'EADDRINUSE' ? `port ${port} is taken by another program` : message
  process.stderr.write(`The shop cannot open: ${reason}.\n`)
  process.exit(69)
})
server.listen(port, env['SHOP_HOST'] ?? '127.0.0.1', () => process.stdout.write(`The shop is open: ${url}\n`))
if (env['SHOP_BESIDE_GATEWAY']) process.stdin.resume().once('end', () => process.exit())
