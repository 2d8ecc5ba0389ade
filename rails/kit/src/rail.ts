// Answers the messages of the rail protocol by calling the provider. An intent is stored first, the call has an
// idempotency key, and its result is stored before the response. The next message or query completes what a crash
// interrupted.
import {
  Failure,
  type RailMessage,
  type RailMessageOf,
  type RailPaymentAnswer,
  type RailRefundAnswer,
  type SettlementAnswer,
  type SettlementReport,
} from '@tillgate/protocol'
import { makeCaptures, whyNotReserved } from './captures.ts'
import { makeDisputes } from './disputes.ts'
import type { Log } from './log.ts'
import {
  isFinal,
  type Provider,
  type ProviderPayment,
  ProviderUnavailable,
  type StoredPayment,
  type StoredRefund,
  type WebhookRequest,
} from './provider.ts'
import type { RailStore } from './store/rail-store.ts'
import { makeTurns } from './turns.ts'

export interface RailParts {
  readonly provider: Provider
  readonly store: RailStore
  readonly now: () => number
  readonly log: Log
}

/** The gateway gets the response; for a job, a notification is sent instead. */
type For = 'gateway' | 'job'

export type Rail = ReturnType<typeof makeRail>

export function makeRail({ provider, store, now, log }: RailParts) {
  const inTurn = makeTurns()

  async function answer(message: RailMessage): Promise<RailPaymentAnswer | RailRefundAnswer> {
    switch (message.type) {
      case 'payment.start': {
        const payment = await store.beginPayment(message, {
          nowMs: now(),
          whyNot: whyNotReserved(provider, message) ?? provider.whyNot(message),
        })
        return inTurn(message.transactionId, async () => {
          const stored = (await store.findPayment(message.transactionId)) ?? payment
          return stored.status === 'starting'
            ? settle(stored, await start(stored), 'gateway')
            : bringUpToDate(stored, 'gateway')
        })
      }
      case 'payment.status':
        return look(message.transactionId, 'gateway')
      case 'payment.cancel':
        return cancel(message.transactionId)
      case 'refund.start':
        return refund(message)
      case 'refund.status':
        return lookAtRefund(message.refundId, 'gateway')
    }
  }

  function look(transactionId: string, by: For): Promise<RailPaymentAnswer> {
    return inTurn(transactionId, async () => {
      const payment = await store.findPayment(transactionId)
      return payment ? bringUpToDate(payment, by) : { status: 'unknown' }
    })
  }

  async function bringUpToDate(payment: StoredPayment, by: For): Promise<RailPaymentAnswer> {
    if (payment.status === 'starting') {
      const said = await start(payment)
      if (said.status !== 'pending' || said.providerId === undefined) return settle(payment, said, by)
      const { providerId, nextAction } = said
      await settle(payment, said, 'gateway', { looksAgain: by === 'job' })
      // A repeated call returns its first result, which may be outdated if the consumer has paid since.
      return settle(payment, await provider.readPayment({ ...payment, providerId, nextAction }), by)
    }
    // A cancelled payment is queried again only after a webhook, because it may have been paid after all.
    const isOver = isFinal(payment.status) && !(payment.status === 'cancelled' && by === 'job')
    if (isOver || !hasProviderId(payment)) return paymentAnswer(payment)
    const said = await provider.readPayment(payment)
    const isStillOpen = said.status === 'pending' || said.status === 'submitted'
    return settle(payment, { ...said, mayStillBePaid: payment.status === 'cancelled' && isStillOpen }, by)
  }

  /** Repeats the same call with the same idempotency key. */
  async function start(payment: StoredPayment): Promise<ProviderPayment> {
    const { transactionId, startedAtMs } = payment
    if (isKeyOld(startedAtMs)) {
      const found = await provider.findPayment(payment)
      if (found) return found
      if (now() >= payment.start.expiresAt) return { status: 'cancelled' }
    }
    return provider.startPayment({ ...payment, idempotencyKey: transactionId })
  }

  const isKeyOld = (startedAtMs: number) => now() - startedAtMs >= provider.idempotencyKeyLifetimeMs / 2

  async function settle(
    payment: StoredPayment,
    said: ProviderPayment,
    by: For,
    { looksAgain = said.mayStillBePaid || said.changesSoon || false } = {},
  ): Promise<RailPaymentAnswer> {
    const { amountMinor = payment.amountMinor, currency = payment.currency } = said
    if (amountMinor !== payment.amountMinor || currency !== payment.currency) {
      // Not stored. The gateway rejects this response, too, and shows both amounts on the order's page.
      log.error('the provider has another amount', {
        transactionId: payment.transactionId,
        asked: `${payment.amountMinor} ${payment.currency}`,
        found: `${amountMinor} ${currency}`,
      })
      if (by === 'job') throw new ProviderUnavailable('the provider has another amount')
      return { ...answerOf(said), amountMinor: String(amountMinor), currency }
    }
    const change = { nowMs: now(), notifies: by === 'job', looksAgain }
    return paymentAnswer(await store.changePayment(payment, said, change))
  }

  function cancel(transactionId: string): Promise<RailPaymentAnswer> {
    return inTurn(transactionId, async () => {
      let payment = await store.findPayment(transactionId)
      if (payment?.status === 'starting') {
        await bringUpToDate(payment, 'gateway')
        payment = await store.findPayment(transactionId)
      }
      if (!payment) return { status: 'unknown' }
      const ended =
        payment.status === 'pending' && hasProviderId(payment)
          ? await settle(payment, await provider.cancelPayment(payment), 'gateway')
          : await bringUpToDate(payment, 'gateway')
      if (ended.status === 'pending')
        throw new ProviderUnavailable('the provider is still processing the payment')
      return ended
    })
  }

  function refund(message: RailMessageOf<'refund.start'>): Promise<RailRefundAnswer> {
    const { transactionId } = message
    return inTurn(transactionId, async () => {
      const payment = await store.findPayment(transactionId)
      // The payment may have been paid without the rail's knowledge.
      if (payment && !isFinal(payment.status)) await bringUpToDate(payment, 'gateway')
      const refund = await store.beginRefund(message, now(), provider.whyNotRefund)
      if (!refund) return { status: 'declined', reason: 'There is no such payment.' }
      return bringRefundUpToDate(refund, 'gateway')
    })
  }

  async function lookAtRefund(refundId: string, by: For): Promise<RailRefundAnswer> {
    const refund = await store.findRefund(refundId)
    if (!refund) return { status: 'unknown' }
    return inTurn(refund.transactionId, async () =>
      bringRefundUpToDate((await store.findRefund(refundId)) ?? refund, by),
    )
  }

  async function bringRefundUpToDate(refund: StoredRefund, by: For): Promise<RailRefundAnswer> {
    if (isFinal(refund.status)) return refundAnswer(refund)
    const payment = await store.findPayment(refund.transactionId)
    if (!payment) throw new Error('a refund belongs to a payment')
    const said = hasProviderId(refund)
      ? await provider.readRefund(refund, payment)
      : ((isKeyOld(refund.startedAtMs) ? await provider.findRefund(refund, payment) : undefined) ??
        (await provider.startRefund({ ...refund, idempotencyKey: refund.refundId }, payment)))
    const change = { nowMs: now(), notifies: by === 'job' }
    const changed = await store.changeRefund(refund, said, change)
    const isNoticedMeanwhile = !hasProviderId(refund) && Object.keys(changed.notice).length > 0
    if (isFinal(changed.status) || !isNoticedMeanwhile || !hasProviderId(changed))
      return refundAnswer(changed)
    // The webhook arrived before the response.
    return refundAnswer(
      await store.changeRefund(changed, await provider.readRefund(changed, payment), change),
    )
  }

  /** Nothing is stored, because the gateway stores what it has read. */
  async function reportSettlements({ day, cursor }: SettlementReport): Promise<SettlementAnswer> {
    if (!provider.readSettlements)
      throw new Failure('invalid_field', { message: `${provider.name} has no reports for the rail.` })
    const { isPending, lines, next } = await provider.readSettlements({
      day,
      cursor,
      reports: await store.findReports(day),
    })
    if (isPending) return { status: 'pending', lines: [] }
    const ourIds = await store.findOurIds(lines.flatMap((line) => line.of ?? []))
    const said = lines.map(({ of = '', amountMinor, feeMinor, ...line }) => {
      const reference = ourIds.get(of)
      return {
        ...line,
        amountMinor: String(amountMinor),
        feeMinor: String(feeMinor),
        ...(reference !== undefined && { reference }),
      }
    })
    return { status: 'ready', lines: said, ...(next !== undefined && { next }) }
  }

  /** The provider's page for a consumer who opens the rail's page; the checkout if the payment has ended. */
  function openPage(transactionId: string, consumerIp: string): Promise<string | undefined> {
    return inTurn(transactionId, async () => {
      const payment = await store.findPayment(transactionId)
      if (!payment || !provider.openPage) return undefined
      if (payment.status !== 'pending' || !hasProviderId(payment)) return payment.start.returnUrl
      try {
        return await provider.openPage(payment, consumerIp)
      } catch (error) {
        if (!(error instanceof ProviderUnavailable)) throw error
        log.error('the provider did not open a page', { transactionId, error })
        return payment.start.returnUrl
      }
    })
  }

  /** Schedules a query of the payment or refund. Returns whether the webhook is the provider's. */
  async function takeWebhook(request: WebhookRequest): Promise<boolean> {
    const webhook = await provider.readWebhook(request)
    if (webhook.kind === 'changed') {
      const { payment, refund, dispute, notice, report } = webhook
      if (payment) await store.wakePayment(payment, notice)
      if (refund) await store.wakeRefund(refund, notice)
      if (dispute) await store.disputes.wake(dispute.of, dispute.notice ?? {})
      if (report !== undefined) await store.noteReport(report, request.nowMs)
    }
    return webhook.kind !== 'forged'
  }

  /** Processes what a webhook or a crash left open, and returns how much there was. */
  async function lookAtDue(limit = 20): Promise<number> {
    const nowMs = now()
    const [payments, refunds] = [
      await store.claimPayments(nowMs, limit),
      await store.claimRefunds(nowMs, limit),
    ]
    await Promise.all([
      ...payments.map((id) => attempt('payments', id, () => look(id, 'job'))),
      ...refunds.map((id) => attempt('refunds', id, () => lookAtRefund(id, 'job'))),
    ])
    return payments.length + refunds.length + (await disputes.lookAtDue(limit))
  }

  async function attempt(
    table: 'payments' | 'refunds',
    id: string,
    work: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await work()
      await store.dropLook(table, id)
    } catch (error) {
      log.error('a look at the provider failed and will be repeated', { id, error })
    }
  }

  const answerCapture = makeCaptures({
    provider,
    store,
    inTurn,
    bringUpToDate: (payment) => bringUpToDate(payment, 'gateway'),
    settle: (payment, said) => settle(payment, said, 'gateway'),
  })
  const disputes = makeDisputes({ provider, store, now, log }, inTurn)
  return {
    answer,
    answerCapture,
    answerDispute: disputes.answer,
    reportSettlements,
    openPage,
    takeWebhook,
    lookAtDue,
  }
}

const hasProviderId = <Kept extends StoredPayment | StoredRefund>(
  kept: Kept,
): kept is Kept & { readonly providerId: string } => kept.providerId !== undefined

/** The constraints of the table guarantee what belongs to each status. */
function paymentAnswer({
  status,
  reference = '',
  reason = '',
  nextAction,
}: StoredPayment): RailPaymentAnswer {
  switch (status) {
    case 'starting':
      throw new Error('a payment that is still starting has no answer')
    case 'pending':
      if (!nextAction) throw new Error('a pending payment has a next action')
      return { status, nextAction }
    case 'authorized':
    case 'approved':
      return { status, reference }
    case 'declined':
      return { status, reason }
    default:
      return { status }
  }
}

function answerOf(said: ProviderPayment): RailPaymentAnswer {
  if (said.status === 'pending') return { status: said.status, nextAction: said.nextAction }
  if (said.status === 'approved' || said.status === 'authorized')
    return { status: said.status, reference: said.reference }
  if (said.status === 'declined') return { status: said.status, reason: said.reason }
  return { status: said.status }
}

function refundAnswer({ status, reference, reason = '' }: StoredRefund): RailRefundAnswer {
  const common = reference === undefined ? {} : { reference }
  if (status === 'starting') throw new Error('a refund that is still starting has no answer')
  return status === 'declined' ? { ...common, status, reason } : { ...common, status }
}
