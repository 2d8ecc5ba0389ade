import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredPayment } from '@tillgate/rail-kit/provider'
import { testRail } from '../../kit/test/battery.ts'
import {
  ask,
  openWorld,
  railDatabaseUrl,
  refundMessage,
  startMessage,
  statusOf,
} from '../../kit/test/world.ts'
import { AdyenApi } from '../src/adyen-api.ts'
import { disputeNotice, makeDisputes } from '../src/adyen-disputes.ts'
import { AdyenProvider } from '../src/adyen-provider.ts'
import { adyenRail } from './adyen.ts'
import { adyenAccount, adyenKey, type FakeAdyen, openFakeAdyen } from './fake-adyen.ts'

await testRail(adyenRail)

const databaseUrl = await railDatabaseUrl()
const hour = 3_600_000

async function openAdyen() {
  const fakes: FakeAdyen[] = []
  const openFake: typeof openFakeAdyen = async (clock) => {
    const fake = await openFakeAdyen(clock)
    fakes.push(fake)
    return fake
  }
  const world = await openWorld({ ...adyenRail, openFake }, databaseUrl)
  const [fake] = fakes
  assert(fake)
  const start = startMessage(world)
  const { transactionId } = start
  const status = async () => (await statusOf(world, start)).status
  return { world, fake, start, transactionId, status, webhookUrl: fake.webhookUrl }
}

test('adyen: a payment waits for its webhook, which has its number', async () => {
  const { world, fake, start, transactionId, status, webhookUrl } = await openAdyen()
  await ask(world, start)
  fake.webhookUrl = undefined
  await fake.consumer(transactionId, 'pays')
  assert.equal(await status(), 'submitted')
  fake.webhookUrl = webhookUrl
  await fake.sendWebhook(transactionId)
  await world.rail.work()
  assert.deepEqual(world.gateway.notifications, [{ type: 'payment.changed', transactionId }])
  const { reference } = await statusOf(world, start)
  assert.match(reference ?? '', /^PSP\d+$/)
  await world.close()
})

test('adyen: a webhook that arrives before the link’s update triggers another query', async () => {
  const { world, fake, start, transactionId, status } = await openAdyen()
  await ask(world, start)
  await fake.sendWebhook(transactionId)
  await world.rail.work()
  assert.equal(await status(), 'pending')
  fake.webhookUrl = undefined
  await fake.consumer(transactionId, 'pays')
  world.clock.nowMs += 61_000
  await world.rail.work()
  assert.deepEqual(world.gateway.notifications, [{ type: 'payment.changed', transactionId }])
  assert.equal(await status(), 'approved')
  await world.close()
})

test('adyen: a declined attempt leaves the payment open, and another attempt pays it', async () => {
  const { world, fake, start, transactionId, status } = await openAdyen()
  await ask(world, start)
  await fake.isRefused(transactionId, 'Not enough balance')
  await world.rail.work()
  assert.equal(await status(), 'pending')
  await fake.consumer(transactionId, 'pays')
  // A webhook that was sent late.
  await fake.isRefused(transactionId, 'Expired Card')
  await world.rail.work()
  assert.equal(await status(), 'approved')
  await world.close()
})

test('adyen: a payment that is refused after processing is declined with the reason, and its link has ended', async () => {
  for (const [reason, words] of [
    ['Not enough balance', 'The balance is too low.'],
    ['<b>Call 0900</b>', 'The payment was refused.'],
  ] as const) {
    const { world, fake, start, transactionId } = await openAdyen()
    await ask(world, start)
    await fake.consumer(transactionId, 'pays slowly')
    assert.equal((await statusOf(world, start)).status, 'submitted')
    fake.reopens(transactionId)
    await fake.isRefused(transactionId, reason)
    await world.rail.work()
    const ended = await statusOf(world, start)
    assert.deepEqual([ended.status, ended.reason], ['declined', words])
    assert.equal(fake.payments()[0]?.status, 'cancelled')
    await world.close()
  }
})

test('adyen: money that arrives after the link ended is reported', async () => {
  const { world, fake, start, transactionId, status } = await openAdyen()
  await ask(world, start)
  assert.equal((await ask(world, { type: 'payment.cancel', transactionId })).status, 'cancelled')
  await fake.paysLate(transactionId)
  await world.rail.work()
  assert.deepEqual(world.gateway.notifications, [{ type: 'payment.changed', transactionId }])
  assert.equal(await status(), 'approved')
  assert.equal((await ask(world, refundMessage(start, 1250n))).status, 'approved')
  await world.close()
})

test('adyen: a webhook with another amount approves nothing', async () => {
  const { world, fake, start, transactionId } = await openAdyen()
  await ask(world, start)
  fake.authorisesOnly = 1000
  await fake.consumer(transactionId, 'pays')
  assert.equal((await statusOf(world, start)).amountMinor, '1000')
  assert.equal((await ask(world, refundMessage(start, 1n))).status, 'declined')
  await world.close()
})

test('adyen: a payment whose response was lost for a day is cancelled, or paid if a webhook reported it', async () => {
  for (const isPaid of [false, true]) {
    const { world, fake, start, transactionId, status } = await openAdyen()
    fake.intercept = (_call, phase) => (phase === 'after' ? 'drop' : 'go on')
    assert.equal((await ask(world, start)).httpStatus, 503)
    fake.intercept = () => 'go on'
    if (isPaid) await fake.consumer(transactionId, 'pays')
    world.clock.nowMs += 25 * hour
    assert.equal(await status(), isPaid ? 'approved' : 'cancelled')
    assert.equal(fake.payments().length, 1)
    await world.close()
  }
})

test('adyen: a refund is repeated only while Adyen knows the idempotency key, and a webhook reports it later', async () => {
  const { world, fake, start, transactionId, webhookUrl } = await openAdyen()
  await ask(world, start)
  await fake.consumer(transactionId, 'pays')
  assert.equal((await statusOf(world, start)).status, 'approved')
  fake.slowRefunds = true
  const refund = refundMessage(start, 300n)
  const { refundId } = refund
  const lookUp = () => ask(world, { type: 'refund.status', refundId })
  fake.intercept = (_call, phase) => (phase === 'after' ? 'drop' : 'go on')
  assert.equal((await ask(world, refund)).httpStatus, 503)
  world.clock.nowMs += 25 * hour
  assert.equal((await lookUp()).httpStatus, 503)
  fake.intercept = () => 'go on'
  const before = fake.calls.length
  world.clock.nowMs += 6 * 24 * hour
  assert.equal((await lookUp()).httpStatus, 503)
  assert.equal(fake.calls.length, before, 'a second refund could have been made')
  fake.webhookUrl = webhookUrl
  await fake.finishRefunds('succeeded')
  await world.rail.work()
  assert.equal((await lookUp()).status, 'approved')
  assert.equal(fake.payments()[0]?.refunds.length, 1)
  await world.close()
})

/** The key, item and signature of Adyen's documentation. */
const published = {
  key: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
  item: {
    additionalData: { hmacSignature: 'coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=' },
    amount: { value: 1130, currency: 'EUR' },
    pspReference: '7914073381342284',
    eventCode: 'AUTHORISATION',
    eventDate: '2019-05-06T17:15:34.121+02:00',
    merchantAccountCode: 'TestMerchant',
    merchantReference: 'TestPayment-1407325143704',
    paymentMethod: 'visa',
    success: 'true',
  },
}

test('adyen: the webhook of Adyen’s documentation is accepted, a changed one is not', () => {
  const provider = new AdyenProvider({
    apiKey: adyenKey,
    merchantAccount: 'TestMerchant',
    hmacKey: published.key,
    livePrefix: '',
    apiUrl: '',
    now: Date.now,
  })
  const { item } = published
  const kindOf = (...items: object[]) => {
    const body = JSON.stringify({
      live: 'false',
      notificationItems: items.map((NotificationRequestItem) => ({ NotificationRequestItem })),
    })
    return read(body)
  }
  const read = (body: string) =>
    provider.readWebhook({ headers: {}, query: new URLSearchParams(), body, nowMs: 0 }).kind
  assert.equal(kindOf(item), 'changed')
  for (const change of [
    { amount: { value: 1131, currency: 'EUR' } },
    { pspReference: '7914073381342285' },
    { merchantReference: 'TestPayment-1407325143705' },
    { success: 'false' },
    { additionalData: {} },
    { additionalData: undefined },
  ])
    assert.equal(kindOf({ ...item, ...change }), 'forged', JSON.stringify(change))
  for (const body of ['', '[]', '{}', 'null', '{"notificationItems":[]}', '{"notificationItems":[{}]}'])
    assert.equal(read(body), 'forged', body)
  assert.equal(kindOf(item, item), 'forged', 'only the first would be read')
})

test('adyen: webhooks for another merchant account are acknowledged and ignored', async () => {
  const { world, fake, start, transactionId } = await openAdyen()
  await ask(world, start)
  fake.accountInWebhooks = `${adyenAccount}2`
  assert.equal(await fake.sendWebhook(transactionId), 200)
  const calls = fake.calls.length
  await world.rail.work()
  assert.equal(fake.calls.length, calls)
  await world.close()
})

test('adyen: with a prefix, requests go to the live platform', async () => {
  const addresses: string[] = []
  const { fetch } = globalThis
  globalThis.fetch = async (address) => {
    addresses.push(String(address))
    return Response.json({ status: 404, message: 'Not found' }, { status: 404 })
  }
  try {
    for (const livePrefix of ['', '1797a841fbb37ca7-Tillgate'])
      await assert.rejects(new AdyenApi({ apiKey: adyenKey, livePrefix, apiUrl: '' }).readLink('PL1'))
  } finally {
    globalThis.fetch = fetch
  }
  assert.deepEqual(addresses, [
    'https://checkout-test.adyen.com/v72/paymentLinks/PL1',
    'https://1797a841fbb37ca7-Tillgate-checkout-live.adyenpayments.com/checkout/v72/paymentLinks/PL1',
  ])
})

test('adyen: the events that came decide a dispute, in any order, and only its signed fields count', async () => {
  const disputes = makeDisputes(new AdyenApi({ apiKey: adyenKey, livePrefix: '', apiUrl: '' }), adyenAccount)
  const noticeOf = (eventCode: string, additionalData = {}) =>
    disputeNotice({
      ...published.item,
      additionalData: { ...published.item.additionalData, ...additionalData },
      eventCode,
    })
  const listed = async (...codes: string[]) => {
    const notice = Object.assign({}, ...codes.map((code) => noticeOf(code)))
    return (await disputes.list({} as StoredPayment, notice)).map(({ status }) => status)
  }
  for (const [codes, expected] of [
    ['NOTIFICATION_OF_CHARGEBACK', undefined],
    ['NOTIFICATION_OF_CHARGEBACK DISPUTE_DEFENSE_PERIOD_ENDED', undefined],
    ['CHARGEBACK', 'open'],
    ['CHARGEBACK DISPUTE_DEFENSE_PERIOD_ENDED', 'lost'],
    ['CHARGEBACK CHARGEBACK_REVERSED', 'won'],
    ['CHARGEBACK CHARGEBACK_REVERSED SECOND_CHARGEBACK', 'lost'],
    ['CHARGEBACK CHARGEBACK_REVERSED SECOND_CHARGEBACK PREARBITRATION_WON', 'won'],
    ['CHARGEBACK CHARGEBACK_REVERSED PREARBITRATION_LOST', 'lost'],
  ] as const) {
    const all = codes.split(' ')
    for (const order of [all, all.toReversed()])
      assert.deepEqual(await listed(...order), expected === undefined ? [] : [expected], order.join())
  }
  for (const code of ['REQUEST_FOR_INFORMATION', 'INFORMATION_SUPPLIED', 'ISSUER_COMMENTS'])
    assert.equal(noticeOf(code), undefined)
  assert.equal(disputeNotice({ ...published.item, eventCode: 'CHARGEBACK', success: 'false' }), undefined)
  const [dispute] = await disputes.list({} as StoredPayment, {
    ...noticeOf('CHARGEBACK', {
      chargebackReasonCode: '<b>',
      defensePeriodEndsAt: 'soon',
      disputeStatus: 'Lost',
    }),
  })
  assert.deepEqual([dispute?.reason, dispute?.respondByMs, dispute?.status], ['other', undefined, 'open'])
})
