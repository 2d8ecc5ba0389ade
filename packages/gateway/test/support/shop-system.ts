// A shop system that others made, with our plugin from integrations/: installed by its own lock file where it is not
// there yet, started as a process of its own against a gateway, and what its consumers do at our checkout.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Tillgate } from '../../../sdk/src/index.ts'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { desktop, launchBrowser, openPage } from './browser.ts'
import { startTestGateway } from './gateway.ts'
import { npmInstall } from './npm-install.ts'
import { lineWith } from './process.ts'
import { databaseOverTcp } from './tcp-database.ts'
import { freePort } from './test-bank.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever a shop system answers
export type Answer = any

/** By the three numbers of digits that currencies have. */
export const places = {
  eur: { country: 'fr', price: 12.5, shown: '12.50', refunds: ['5.00', '7.50'] },
  jpy: { country: 'jp', price: 1200, shown: '1,200', refunds: ['200', '1000'] },
  kwd: { country: 'kw', price: 1.234, shown: '1.234', refunds: ['0.234', '1.000'] },
} as const

export async function prepareShopSystem(name: string) {
  const folder = join(import.meta.dirname, '../../../../integrations', name)
  const gateway = await startTestGateway()
  const credentials = sandboxFilePath(gateway.config.dataDir)
  const tillgate = Tillgate.fromFile(credentials)
  const browser = await launchBrowser()
  const port = await freePort()
  const url = `http://localhost:${port}`
  const env = {
    ...process.env,
    DATABASE_URL: await databaseOverTcp(),
    PORT: `${port}`,
    NODE_ENV: 'production',
    MEDUSA_DISABLE_TELEMETRY: 'true',
    TILLGATE_CREDENTIALS: credentials,
    SHOP_URL: url,
    // Where the consumer comes back to: any page of ours will do.
    RETURN_URL: `${gateway.url}/docs`,
  }
  const run = (command: string, args: readonly string[], cwd = folder) =>
    promisify(execFile)(command, args, { cwd, env, timeout: 600_000, maxBuffer: 1e8 }).catch((error) =>
      assert.fail(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`),
    )
  let server: ChildProcess | undefined
  after(() => server?.kill('SIGKILL'))
  return {
    folder,
    gateway,
    credentials,
    port,
    url,
    tillgate,
    run,

    /** The shop system by its lock file, and our plugin built. */
    async install(): Promise<void> {
      const compiler = join(folder, 'node_modules/.bin/tsc')
      if (!existsSync(compiler)) await run('npm', npmInstall)
      await run(compiler, [])
    },

    async start(args: readonly string[], readyLine: string): Promise<void> {
      const child = spawn(process.execPath, args, { cwd: join(folder, 'shop'), env })
      server = child
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (output += text))
      await lineWith({ child, output: () => output }, readyLine, 300_000)
    },

    /** As a consumer in a browser, who stays on the page. */
    async pay(checkoutUrl: string, shown: string) {
      const { page } = await openPage(browser, desktop)
      await page.goto(checkoutUrl)
      const main = page.locator('main')
      assert((await main.textContent())?.includes(shown), await main.innerText())
      await page.locator('button[value=approves]').click()
      return page
    },
  }
}

/** Shop systems look at a callback when they come to it. */
export async function eventually(look: () => Promise<Answer>): Promise<Answer> {
  for (const deadline = performance.now() + 120_000; ; await pause(200)) {
    const found = await look()
    if (found) return found
    assert(performance.now() < deadline, 'it did not come to this')
  }
}

/** A success that the gateway never signed. */
export async function postForgedCallback(url: string, referOrderNo: string): Promise<Response> {
  const forged = {
    id: '01995f2d-8000-7000-8000-000000000001',
    merchantId: '100000000000000001',
    eventName: 'payment.order.success',
    timestamp: `${Date.now()}`,
    sign: 'AAAA',
    body: Buffer.from(JSON.stringify({ referOrderNo, status: 'success' })).toString('base64'),
  }
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(forged),
  })
}

/** What the gateway has of a payment that was given back in parts. */
export async function assertRefunded(
  tillgate: Tillgate,
  paymentId: string,
  refunds: readonly string[],
): Promise<void> {
  const { refunds: made, paymentStatus } = await tillgate.orders.query(paymentId)
  assert.equal(paymentStatus, 'success')
  assert.deepEqual(
    made.map(({ refundAmount, status }) => [Number(refundAmount), status]),
    refunds.map((amount) => [Number(amount), 'refund_success']),
  )
}
