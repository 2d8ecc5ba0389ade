// Makes every call of the rail against the real Stripe with test keys, and prints the table of README.md.
//   STRIPE_SECRET_KEY=sk_test_… npm run try --workspace rails/stripe
// Somebody has to pay once on the page that it shows, with the card 4242 4242 4242 4242.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { makePaymentId, makeRefundId, makeTransactionId } from '@tillgate/protocol'
import type { ProviderPayment, StoredPayment, StoredRefund } from '@tillgate/rail-kit/provider'
import { StripeProvider } from './src/stripe-provider.ts'

const { STRIPE_SECRET_KEY: secretKey = '', STRIPE_API_URL: apiUrl } = process.env
const waitMs = Number(process.env['WAIT_SECONDS'] ?? 300) * 1000
if (!/^(sk|rk)_test_/.test(secretKey)) {
  process.stderr.write('Set STRIPE_SECRET_KEY to a test key: sk_test_… or rk_test_…\n')
  process.exit(78)
}

const provider = new StripeProvider({ secretKey, webhookSecret: '', apiUrl })
const results: string[] = []

const first = await call('create a Checkout Session', async () => {
  const payment = makePayment()
  const said = await provider.startPayment({ ...payment, idempotencyKey: payment.transactionId })
  return { ...payment, providerId: idOf(said) }
})
await call('create it again with the same idempotency key', async () => {
  const said = await provider.startPayment({
    ...first,
    providerId: undefined,
    idempotencyKey: first.transactionId,
  })
  expect(said.providerId === first.providerId, `another session: ${said.providerId}`)
})
await call('read a session', async () => expectStatus(await provider.readPayment(first), 'pending'))
await call('find a session by our id', async () => {
  expect((await provider.findPayment(first))?.providerId === first.providerId, 'it was not found')
})
await call('expire a session', async () => expectStatus(await provider.cancelPayment(first), 'cancelled'))
await call('expire it again', async () => expectStatus(await provider.cancelPayment(first), 'cancelled'))
await call('decline a currency that Stripe does not have', async () => {
  const payment = { ...makePayment(), currency: 'KPW' }
  const said = await provider.startPayment({ ...payment, idempotencyKey: payment.transactionId })
  expectStatus(said, 'declined')
})

const second = makePayment()
const opened = await provider.startPayment({ ...second, idempotencyKey: second.transactionId })
if (opened.status === 'pending' && opened.nextAction.kind === 'redirect')
  process.stdout.write(`Pay here with 4242 4242 4242 4242, any date and code: ${opened.nextAction.url}\n`)
const paid = await call('read a session that was paid', async () => {
  const open = { ...second, providerId: idOf(opened) }
  const deadlineMs = Date.now() + waitMs
  for (;;) {
    const said = await provider.readPayment(open)
    if (said.status === 'approved') return { ...open, status: said.status, reference: said.reference }
    expect(Date.now() < deadlineMs, `it stayed ${said.status}`)
    await pause(2_000)
  }
})
const refund = makeRefund(paid, 300n)
const refunded = await call('create a partial refund', () =>
  provider.startRefund({ ...refund, idempotencyKey: refund.refundId }, paid),
)
await call('create it again with the same idempotency key', async () => {
  const again = await provider.startRefund({ ...refund, idempotencyKey: refund.refundId }, paid)
  expect(again.providerId === refunded.providerId, `another refund: ${again.providerId}`)
})
await call('find a refund by our id', async () => {
  expect((await provider.findRefund(refund, paid))?.providerId === refunded.providerId, 'it was not found')
})
await call('read a refund', () => provider.readRefund({ ...refund, providerId: refunded.providerId ?? '' }))
await call('decline a refund of more than is left', async () => {
  const tooMuch = makeRefund(paid, 1_000n)
  const said = await provider.startRefund({ ...tooMuch, idempotencyKey: tooMuch.refundId }, paid)
  expect(said.status === 'declined', `it was ${said.status}`)
})

process.stdout.write(`\n| Call | Result | Date |\n| --- | --- | --- |\n${results.join('\n')}\n`)

async function call<Result>(name: string, make: () => Promise<Result>): Promise<Result> {
  const day = new Date().toISOString().slice(0, 10)
  try {
    const result = await make()
    results.push(`| ${name} | as expected | ${day} |`)
    return result
  } catch (error) {
    process.stdout.write(`${results.join('\n')}\n`)
    throw new Error(`"${name}" went wrong`, { cause: error })
  }
}

function makePayment(): StoredPayment {
  const nowMs = Date.now()
  const transactionId = makeTransactionId(nowMs, randomBytes)
  return {
    transactionId,
    start: {
      type: 'payment.start',
      transactionId,
      paymentId: makePaymentId(nowMs, randomBytes),
      merchantId: '100000000000000001',
      merchantName: 'Tillgate try',
      orderNo: 'try-1',
      amount: '10.00',
      amountMinor: '1000',
      currency: 'EUR',
      createdAt: nowMs,
      expiresAt: nowMs + 900_000,
      returnUrl: 'https://example.com/back',
      notifyUrl: 'https://example.com/notifications',
      locale: 'en',
      channel: 'WEB',
    },
    amountMinor: 1_000n,
    currency: 'EUR',
    startedAtMs: nowMs,
    status: 'starting',
    providerId: undefined,
    nextAction: undefined,
    reference: undefined,
    reason: undefined,
  }
}

function makeRefund({ transactionId, currency }: StoredPayment, amountMinor: bigint): StoredRefund {
  return {
    refundId: makeRefundId(Date.now(), randomBytes),
    transactionId,
    amountMinor,
    currency,
    note: undefined,
    startedAtMs: Date.now(),
    status: 'starting',
    providerId: undefined,
    reference: undefined,
    reason: undefined,
  }
}

function idOf({ providerId }: ProviderPayment): string {
  expect(providerId !== undefined, 'Stripe returned no id')
  return providerId
}

function expectStatus(said: ProviderPayment, status: ProviderPayment['status']): void {
  expect(said.status === status, `it was ${said.status}`)
}

function expect(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise)
}
