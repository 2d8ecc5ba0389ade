// Stripe's disputes: their money, the evidence that Stripe takes once, and the end.
import type { DisputeReason, DisputeStatus } from '@tillgate/protocol'
import type { Evidence, ProviderDispute, ProviderDisputes, StoredPayment } from '@tillgate/rail-kit/provider'
import { ProviderUnavailable } from '@tillgate/rail-kit/provider'
import type Stripe from 'stripe'
import { exactMinor } from './amounts.ts'
import { known, Refused } from './stripe-call.ts'

export class StripeDisputes implements ProviderDisputes {
  readonly #stripe: Stripe

  constructor(stripe: Stripe) {
    this.#stripe = stripe
  }

  async list({ reference }: StoredPayment): Promise<readonly ProviderDispute[]> {
    if (reference === undefined) return []
    const page = this.#stripe.disputes.list({ payment_intent: reference, limit: 100 })
    return (await certain(page)).data.flatMap((each) => disputeOf(each) ?? [])
  }

  /** Submits what the merchant gave. The same keys make a repeat safe, and later the dispute accepts no evidence. */
  async sendEvidence({ disputeId }: ProviderDispute, { evidenceId, text, file }: Evidence): Promise<void> {
    const uploaded = file && (await certain(this.#upload(file, evidenceId)))
    const evidence = {
      ...(text !== undefined && { uncategorized_text: text }),
      ...(uploaded && { uncategorized_file: uploaded.id }),
    }
    const options = { idempotencyKey: `${evidenceId} evidence` }
    await certain(this.#stripe.disputes.update(disputeId, { evidence, submit: true }, options))
  }

  #upload({ name, contentType, content }: NonNullable<Evidence['file']>, evidenceId: string) {
    const file = { name, type: contentType, data: Buffer.from(content, 'base64') }
    const options = { idempotencyKey: `${evidenceId} file` }
    return this.#stripe.files.create({ purpose: 'dispute_evidence', file }, options)
  }

  async accept({ disputeId }: ProviderDispute): Promise<void> {
    await certain(this.#stripe.disputes.close(disputeId))
  }
}

/** Undefined while Stripe has withdrawn nothing, as for an inquiry. */
function disputeOf(dispute: Stripe.Dispute): ProviderDispute | undefined {
  const {
    id,
    status,
    amount,
    currency,
    reason,
    balance_transactions: moved,
    evidence_details: details,
  } = dispute
  if (moved.length === 0) return undefined
  const isOurs = moved.every((each) => each.currency === currency)
  const isAnswerable = status === 'needs_response' && details.submission_count === 0
  return {
    disputeId: id,
    status: ends[status] ?? 'open',
    amountMinor: exactMinor(amount, currency),
    currency: currency.toUpperCase(),
    ...(isOurs && { feeMinor: exactMinor(sumOf(moved.map(({ fee }) => fee)), currency) }),
    reason: reasons[reason] ?? 'other',
    respondByMs: isAnswerable && details.due_by ? details.due_by * 1000 : undefined,
    accepts: isAnswerable ? ['evidence', 'accept'] : [],
  }
}

/** A dispute that Stripe prevented has refunded the consumer. */
const ends: Readonly<Record<string, DisputeStatus>> = {
  won: 'won',
  warning_closed: 'won',
  lost: 'lost',
  prevented: 'lost',
}

const reasons: Readonly<Record<string, DisputeReason>> = {
  fraudulent: 'fraudulent',
  unrecognized: 'fraudulent',
  debit_not_authorized: 'fraudulent',
  product_not_received: 'not_received',
  product_unacceptable: 'not_as_described',
  duplicate: 'duplicate',
  credit_not_processed: 'cancelled',
  subscription_canceled: 'cancelled',
}

const sumOf = (amounts: readonly number[]) => amounts.reduce((sum, each) => sum + each, 0)

/** A rejected call is repeated as well, because the gateway may not believe that the evidence was passed on. */
async function certain<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await known(call)
  } catch (error) {
    if (error instanceof Refused) throw new ProviderUnavailable(error.message, { cause: error })
    throw error
  }
}
