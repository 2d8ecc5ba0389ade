// From test keys to a payment in the sandbox, with the programs that an operator starts and a fake of Stripe.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '../../../packages/gateway/test/support/callbacks.ts'
import {
  commandScript,
  run,
  startProcess,
  temporaryFolder,
} from '../../../packages/gateway/test/support/process.ts'
import { freePort } from '../../../packages/gateway/test/support/test-bank.ts'
import { ConflictError, Tillgate } from '../../../packages/sdk/src/index.ts'
import { openFakeStripe, stripeKey, stripeWebhookSecret } from './fake-stripe.ts'

test('with test keys, one command and a running rail, the sandbox takes a payment', async (t) => {
  const folder = temporaryFolder()
  await startProcess({ DATA_DIR: folder })
  const clock = {
    get nowMs() {
      return Date.now()
    },
  }
  const fake = await openFakeStripe(clock)
  after(() => fake.close())
  const port = await freePort()
  fake.webhookUrl = `http://127.0.0.1:${port}/webhooks`
  const file = join(folder, 'rail-stripe.env')

  const startedMs = performance.now()
  const init = run(
    {
      DATA_DIR: folder,
      STRIPE_SECRET_KEY: stripeKey,
      STRIPE_WEBHOOK_SECRET: stripeWebhookSecret,
      STRIPE_API_URL: fake.url,
    },
    {
      script: commandScript,
      args: [
        'rail',
        'init',
        'stripe',
        '--url',
        `http://127.0.0.1:${port}/messages`,
        '--file',
        file,
        '--wait',
        '60',
      ],
    },
  )
  await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('STRIPE_SECRET_KEY'))
  const rail = spawn(process.execPath, [join(import.meta.dirname, '../main.ts'), file], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    stdio: 'ignore',
  })
  after(() => rail.kill())
  assert.deepEqual(await init.exited(), { code: 0, signal: null }, init.output())
  assert.match(init.output(), /\d+ passed, 0 failed, \d+ not checked/)

  const tillgate = Tillgate.fromFile(join(folder, 'sandbox-merchant.json'))
  const { paymentId } = await tillgate.orders.create({
    order: {
      orderNo: 'first',
      orderAmount: '12.50',
      goods: [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: '12.50' }],
    },
    paymentAmount: '12.50',
    currency: 'EUR',
  })
  let page: string | undefined
  // The gateway caches the list of rails for a few seconds.
  await until(async () => {
    const started = await tillgate.sandbox.pay({ paymentId, rail: 'stripe' }).catch((error: unknown) => {
      if (!(error instanceof ConflictError)) throw error
    })
    page = started?.nextAction?.url
    return page !== undefined
  })
  await fetch(page ?? '', {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ choice: 'pay' }),
  })
  const { paymentStatus } = await tillgate.orders.waitUntilFinal(paymentId)
  assert.equal(paymentStatus, 'success')
  t.diagnostic(`from keys to a payment: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
})
