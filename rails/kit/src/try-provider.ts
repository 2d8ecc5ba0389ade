// Sends every request of a rail to the real provider with test keys and prints the table for its README. You pay once on
// the page that the script shows.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { makePaymentId, makeRefundId, makeTransactionId, type NextAction } from '@tillgate/protocol'
import type { Provider, ProviderPayment, ProviderRefund, StoredPayment, StoredRefund } from './provider.ts'

export interface Trial {
  readonly provider: Provider
  /** How to pay on the provider's test page. */
  readonly howToPay: string
  readonly write: (text: string) => void
  readonly waitMs: number
  /** A currency that the rail accepts and the provider rejects, if there is one. */
  readonly unknownCurrency?: string
  readonly currency?: string
  /** False if the provider has no search, so that nothing is found by our id. */
  readonly searches?: boolean
  /** The provider has a request for a payment's disputes. */
  readonly listsDisputes?: boolean
  /** `later`: the provider accepts every refund, and a webhook reports the result. */
  readonly refundsAreDecided?: 'at once' | 'later'
}

type Made = StoredPayment & { readonly providerId: string }

export async function tryProvider(trial: Trial): Promise<void> {
  const { provider, write, waitMs, unknownCurrency, currency, searches = true } = trial
  const results: string[] = []

  async function call<Result>(name: string, make: () => Promise<Result>): Promise<Result> {
    try {
      const result = await make()
      results.push(`| ${name} | as expected | ${new Date().toISOString().slice(0, 10)} |`)
      return result
    } catch (error) {
      write(`${results.join('\n')}\n`)
      throw new Error(`"${name}" went wrong`, { cause: error })
    }
  }

  async function until<Said extends { readonly status: string }>(
    read: () => Promise<Said>,
    isSo: (said: Said) => boolean,
  ): Promise<Said> {
    const deadlineMs = Date.now() + waitMs
    for (;;) {
      const said = await read()
      if (isSo(said)) return said
      expect(Date.now() < deadlineMs, `it stayed ${said.status}`)
      await pause(2_000)
    }
  }

  const start = async (): Promise<{ payment: Made; said: ProviderPayment }> => {
    const payment = makePayment(currency)
    const said = await provider.startPayment({ ...payment, idempotencyKey: payment.transactionId })
    expect(said.providerId !== undefined, `it was ${said.status}`)
    const nextAction = said.status === 'pending' ? said.nextAction : undefined
    return { payment: { ...payment, providerId: said.providerId, nextAction }, said }
  }

  const first = await call('create a payment', start)
  await call('create it again with the same idempotency key', async () => {
    const { transactionId: idempotencyKey, providerId } = first.payment
    const again = await provider.startPayment({ ...first.payment, providerId: undefined, idempotencyKey })
    expect(again.providerId === providerId, `it is another payment: ${again.providerId}`)
  })
  await call('read a payment', async () => expectStatus(await provider.readPayment(first.payment), 'pending'))
  if (searches)
    await call('find a payment by our id', async () => {
      const found = await provider.findPayment(first.payment)
      expect(found?.providerId === first.payment.providerId, 'it was not found')
    })
  await call('cancel a payment', async () =>
    expectStatus(await provider.cancelPayment(first.payment), 'cancelled'),
  )
  await call('cancel it again', async () =>
    expectStatus(await provider.cancelPayment(first.payment), 'cancelled'),
  )
  if (unknownCurrency !== undefined)
    await call('decline a currency that the provider does not take', async () => {
      const payment = { ...makePayment(), currency: unknownCurrency }
      const said = await provider.startPayment({ ...payment, idempotencyKey: payment.transactionId })
      expectStatus(said, 'declined')
    })

  const second = await start()
  if (second.said.status === 'pending')
    write(`Pay here, ${trial.howToPay}: ${addressIn(second.said.nextAction)}\n`)
  const paid = await call('read a payment that was paid', async () => {
    const said = await until(
      () => provider.readPayment(second.payment),
      ({ status }) => status === 'approved',
    )
    const reference = said.status === 'approved' ? said.reference : undefined
    return { ...second.payment, status: said.status, reference }
  })
  const refund = makeRefund(paid, 300n)
  const refunded = await call('create a partial refund', () =>
    provider.startRefund({ ...refund, idempotencyKey: refund.refundId }, paid),
  )
  await call('create it again with the same idempotency key', async () => {
    const again = await provider.startRefund({ ...refund, idempotencyKey: refund.refundId }, paid)
    expect(again.providerId === refunded.providerId, `it is another refund: ${again.providerId}`)
  })
  if (searches)
    await call('find a refund by our id', async () => {
      const found = await provider.findRefund(refund, paid)
      expect(found?.providerId === refunded.providerId, 'it was not found')
    })
  const decided = async (made: StoredRefund, said: ProviderRefund): Promise<ProviderRefund> => {
    const read = () => provider.readRefund({ ...made, providerId: said.providerId ?? '' }, paid)
    return trial.refundsAreDecided === 'later' ? until(read, ({ status }) => status !== 'submitted') : said
  }
  await call('read a refund', async () => {
    await provider.readRefund({ ...refund, providerId: refunded.providerId ?? '' }, paid)
    const said = await decided(refund, refunded)
    expect(said.status !== 'declined', `it was ${said.status}`)
  })
  await call('decline a refund of more than is left', async () => {
    const tooMuch = makeRefund(paid, 1_000n)
    const asked = await provider.startRefund({ ...tooMuch, idempotencyKey: tooMuch.refundId }, paid)
    const said = await decided(tooMuch, asked)
    expect(said.status === 'declined', `it was ${said.status}`)
  })
  const { readSettlements, disputes } = provider
  if (trial.listsDisputes) await call('list the disputes of a payment', async () => disputes?.list(paid, {}))
  if (readSettlements) {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    await call('read a settlement report', () =>
      readSettlements.call(provider, { day, cursor: undefined, reports: [] }),
    )
  }
  write(`\n| Call | Result | Date |\n| --- | --- | --- |\n${results.join('\n')}\n`)
}

function addressIn(nextAction: NextAction): string {
  if (nextAction.kind === 'redirect') return nextAction.url
  return nextAction.kind === 'qr' ? nextAction.text : JSON.stringify(nextAction.lines)
}

function makePayment(currency = 'EUR'): StoredPayment {
  const nowMs = Date.now()
  const transactionId = makeTransactionId(nowMs, randomBytes)
  const amountMinor = 1_000n
  return {
    transactionId,
    start: {
      type: 'payment.start',
      transactionId,
      paymentId: makePaymentId(nowMs, randomBytes),
      merchantId: '100000000000000001',
      merchantName: 'Tillgate',
      orderNo: 'try-1',
      amount: '10.00',
      amountMinor: String(amountMinor),
      currency,
      createdAt: nowMs,
      expiresAt: nowMs + 900_000,
      returnUrl: 'https://example.com/back',
      notifyUrl: 'https://example.com/notifications',
      locale: 'en',
      channel: 'WEB',
    },
    amountMinor,
    currency,
    startedAtMs: nowMs,
    status: 'starting',
    providerId: undefined,
    nextAction: undefined,
    reference: undefined,
    reason: undefined,
    notice: {},
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
    notice: {},
  }
}

function expectStatus(said: ProviderPayment, status: ProviderPayment['status']): void {
  expect(said.status === status, `it was ${said.status}`)
}

function expect(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Error(otherwise)
}
