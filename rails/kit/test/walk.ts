// A whole gateway with a rail, in a real Chromium: from the checkout to the provider's page and back.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { noExtras } from '../../../packages/gateway/src/actions/rails/rail-actions.ts'
import { systemClock } from '../../../packages/gateway/src/platform/runtime/clock.ts'
import { actingAs } from '../../../packages/gateway/test/support/acting.ts'
import {
  desktop,
  heading,
  launchBrowser,
  openPage,
  phone,
} from '../../../packages/gateway/test/support/browser.ts'
import { until } from '../../../packages/gateway/test/support/callbacks.ts'
import { startTestGateway } from '../../../packages/gateway/test/support/gateway.ts'
import { createBody } from '../../../packages/gateway/test/support/order.ts'
import { freePort } from '../../../packages/gateway/test/support/test-bank.ts'
import { makeLog } from '../src/log.ts'
import { openRail } from '../src/run-rail.ts'
import type { FakeProvider } from './fake-provider.ts'
import { type RailUnderTest, railDatabaseUrl } from './world.ts'

const method = 'Card and more'

export async function openWalk<Fake extends FakeProvider>(
  given: RailUnderTest,
  openFake: (clock: { readonly nowMs: number }) => Promise<Fake>,
  currency = 'USD',
  channel: 'WEB' | 'APP' = 'WEB',
) {
  const clock = {
    get nowMs() {
      return Date.now()
    },
  }
  const gateway = await startTestGateway()
  const fake = await openFake(clock)
  const port = await freePort()
  const { rails } = actingAs(gateway.operations, 'test')
  const url = `http://127.0.0.1:${port}/messages`
  const { secret } = await rails.addRail(
    'provider',
    { ...noExtras, name: method, url, currencies: [currency] },
    'test',
  )
  gateway.operations.railDirectory.forget()
  const log: string[] = []
  const rail = await openRail({
    schema: `walk_${given.name}`,
    provider: given.makeProvider(fake, Date.now, `http://127.0.0.1:${port}`),
    databaseUrl: await railDatabaseUrl(),
    secrets: [secret],
    host: '127.0.0.1',
    port,
    now: Date.now,
    log: makeLog({ write: (line) => log.push(line), now: Date.now, secrets: [] }),
    everyMs: 200,
  })
  fake.webhookUrl = `http://127.0.0.1:${port}/webhooks`
  after(async () => {
    await rail.close()
    await fake.close()
  })
  const merchant = await gateway.addMerchant()
  const browser = await launchBrowser()

  /** Opens the provider's page for a new order. */
  async function atProvider(options: typeof desktop | typeof phone, amount?: number, at = channel) {
    const body = { ...createBody({ now: systemClock.now() }), currency, channel: at }
    if (amount !== undefined) {
      const [tea] = body.order.goods
      const goods = [{ referenceGoodsId: 'tea-1', goodsName: tea?.goodsName, goodsAmount: amount }]
      Object.assign(body, { paymentAmount: amount, order: { ...body.order, orderAmount: amount, goods } })
    }
    const { data, msg } = await merchant.call('service.trade.create', body)
    assert(data, msg)
    const { page, troubles } = await openPage(browser, options)
    const button = page.getByRole('button', { name: method, exact: true })
    // The gateway caches the list of rails for a few seconds.
    await until(async () => {
      await page.goto(data.checkoutUrl)
      return (await button.count()) > 0
    })
    await button.click()
    return { page, troubles, paymentId: String(data.paymentId) }
  }

  async function eventsOf(paymentId: string): Promise<string[]> {
    const { rows } = await gateway.pool.query<{ event_name: string }>(
      'select event_name from callbacks where payment_id = $1 order by created_at',
      [paymentId],
    )
    return rows.map(({ event_name: name }) => name.replace('payment.order.', ''))
  }

  return { gateway, fake, rail, merchant, atProvider, eventsOf, log }
}

type Walk = Awaited<ReturnType<typeof openWalk>>

/** The actions of a consumer and a merchant with every provider. */
export function testWalk({ gateway, fake, merchant, atProvider, eventsOf }: Walk): void {
  afterEach(async () => {
    assert.deepEqual((await gateway.operations.verifyLedger()).findings, [])
  })

  test('paid there, back at the checkout, with both callbacks; then refunded in two parts', async () => {
    const { page, troubles, paymentId } = await atProvider(desktop)
    await page.waitForURL(`${fake.url}/**`)
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.waitForURL(`${gateway.url}/**`)
    await heading(page, 'Payment successful')
    assert.deepEqual(await eventsOf(paymentId), ['confirming', 'success'])
    for (const [number, refundAmount] of [3, 2].entries()) {
      const { data, msg } = await merchant.call('service.trade.refund', {
        paymentId,
        referRefundNo: `R-${paymentId}-${number}`,
        refundAmount,
      })
      assert(data, msg)
      await until(
        async () => (await eventsOf(paymentId)).filter((name) => name.includes('refund')).length > number,
      )
    }
    assert.equal(fake.payments().find(({ status }) => status === 'paid')?.refunds.length, 2)
    assert.deepEqual(troubles, [])
  })

  test('left there, and paid from a wallet: the payment at the provider has ended', async () => {
    const { page, troubles, paymentId } = await atProvider(phone)
    await page.waitForURL(`${fake.url}/**`)
    await page.goBack()
    await page.getByRole('button', { name: 'Choose another payment method' }).click()
    await page.getByRole('button', { name: 'Succeeds Paid immediately' }).click()
    await heading(page, 'Payment successful')
    const { data } = await merchant.call('service.trade.query', { paymentId })
    assert.equal(data?.payMethod, 'wallet')
    assert.equal(fake.payments().at(-1)?.status, 'cancelled')
    assert.deepEqual(troubles, [])
  })
}
