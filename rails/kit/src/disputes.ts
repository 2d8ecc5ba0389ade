// Disputes, for providers that report them. A webhook or a message makes the rail list the payment's disputes at the
// provider; what the gateway was not told yet becomes a notification.
import { type DisputeAnswer, type DisputeMessage, Failure } from '@tillgate/protocol'
import type { ProviderDispute, ProviderDisputes, StoredPayment } from './provider.ts'
import { isFinal } from './provider.ts'
import type { RailParts } from './rail.ts'
import type { InTurn } from './turns.ts'

export function makeDisputes({ provider, store, now, log }: RailParts, inTurn: InTurn) {
  const atProvider = provider.disputes

  function answer(message: DisputeMessage): Promise<DisputeAnswer> {
    const { disputeId, transactionId } = message
    if (!atProvider)
      throw new Failure('invalid_field', { message: `${provider.name} passes on no disputes.` })
    return inTurn(transactionId, async () => {
      const payment = await store.findPayment(transactionId)
      if (!payment) return { status: 'unknown' }
      const listed = await list(atProvider, payment)
      const found = listed.find((each) => each.disputeId === disputeId)
      if (!found) return { status: 'unknown' }
      if (!(await passOn(atProvider, found, message))) return answerOf(found)
      const after = await list(atProvider, payment)
      return answerOf(after.find((each) => each.disputeId === disputeId) ?? found)
    })
  }

  async function list(from: ProviderDisputes, payment: StoredPayment): Promise<readonly ProviderDispute[]> {
    const { transactionId, providerId, reference } = payment
    const of = [transactionId, providerId, reference].flatMap((each) => each ?? [])
    return from.list(payment, await store.disputes.noticeOf(of))
  }

  /** Looks at the payments whose disputes changed, and returns how many there were. */
  async function lookAtDue(limit: number): Promise<number> {
    const due = await store.disputes.claim(now(), limit)
    await Promise.all(
      due.map(async ({ of, transactionId }) => {
        // Not known yet, or not ours.
        if (transactionId === undefined) return
        try {
          if (!atProvider || (await look(atProvider, transactionId))) await store.disputes.dropLook(of, now())
        } catch (error) {
          log.error('a look at disputes failed and will be repeated', { id: of, error })
        }
      }),
    )
    return due.length
  }

  /** False if the payment may still be approved. */
  function look(from: ProviderDisputes, transactionId: string): Promise<boolean> {
    return inTurn(transactionId, async () => {
      const payment = await store.findPayment(transactionId)
      if (payment?.status === 'approved') await store.disputes.tell(payment, await list(from, payment), now())
      return payment !== undefined && isFinal(payment.status)
    })
  }

  return { answer, lookAtDue }
}

/** False if there is nothing to pass on, because the provider has it or takes it no longer. */
async function passOn(
  to: ProviderDisputes,
  dispute: ProviderDispute,
  message: DisputeMessage,
): Promise<boolean> {
  if (message.type === 'dispute.evidence' && dispute.accepts.includes('evidence') && to.sendEvidence) {
    await to.sendEvidence(dispute, message)
    return true
  }
  if (message.type === 'dispute.accept' && dispute.accepts.includes('accept') && to.accept) {
    await to.accept(dispute)
    return true
  }
  return false
}

function answerOf(dispute: ProviderDispute): DisputeAnswer {
  const { status, amountMinor, currency, feeMinor, reason, respondByMs, accepts } = dispute
  return {
    status,
    amountMinor: String(amountMinor),
    currency,
    ...(feeMinor !== undefined && { feeMinor: String(feeMinor) }),
    ...(reason !== undefined && { reason }),
    ...(respondByMs !== undefined && { respondBy: respondByMs }),
    accepts,
  }
}
