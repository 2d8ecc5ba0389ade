// Asks a rail about a dispute and commits the consequence. The merchant's evidence or acceptance is passed on with the
// same question, until the rail took it.
import assert from 'node:assert/strict'
import {
  type DisputeAnswer,
  type DisputeMessage,
  disputeVersion,
  makeCallbackId,
  makeDisputeId,
  parseDisputeAnswer,
  type RandomBytes,
  toDecimalText,
} from '@tillgate/protocol'
import type { MakeEmails } from '../../../core/emails/make-emails.ts'
import { writtenTime } from '../../../core/emails/rules/email.ts'
import {
  disputesAccount,
  feesAccount,
  merchantAccount,
  owedAccount,
  railAccount,
} from '../../../core/ledger/rules/transfer.ts'
import type { ClaimedTask, RailCall } from '../../../core/orders/payments/rules/rail-task.ts'
import type { Vault } from '../../../platform/runtime/secrets/vault.ts'
import { type LoadParts, load } from '../ask-about-payment.ts'
import type { Asked } from '../inquiry.ts'
import { withCalls } from '../inquiry.ts'
import type { AskRail } from '../rail-client.ts'
import type { KnownRail } from '../rail-directory.ts'
import type { OrderAndAttempt } from '../rules/attempt.ts'
import {
  type Dispute,
  type DisputeChange,
  decideDispute,
  type KnownAnswer,
  openDispute,
  placeOfEvidence,
  whyNotDisputed,
} from './rules/dispute.ts'
import type { DecidedDispute, DisputeOutcome } from './store/dispute-outcomes.ts'
import type { DisputeStore } from './store/disputes.ts'

export interface AskAboutDisputeParts extends LoadParts {
  readonly disputes: Pick<DisputeStore, 'findByReference' | 'commit' | 'readFile'>
  readonly makeEmails: MakeEmails
  readonly vault: Vault
  readonly random: RandomBytes
}

/** An open dispute is asked about although the rail notifies, because notifications are lost. */
const againMs = 6 * 60 * 60_000
/** A dispute of a payment that is not approved here yet. */
const soonMs = 60_000

export type DisputeInquiry =
  | { readonly kind: 'failed'; readonly failure: string; readonly calls: readonly RailCall[] }
  | { readonly kind: 'answered'; readonly outcome: DisputeOutcome }

export function makeAskAboutDispute(parts: AskAboutDisputeParts, ask: AskRail) {
  return async (task: ClaimedTask, rail: KnownRail): Promise<DisputeInquiry> => {
    const facts = await load(parts, task)
    const reference = task.taskId.slice(task.railId.length + 1)
    const known = await parts.disputes.findByReference({ ...task, reference })
    const message = await messageOf(parts, { task, reference, known })
    const asked: Asked<DisputeAnswer> = withCalls(await ask(rail, message, parseDisputeAnswer), [])
    if (asked.kind === 'failed') return asked
    const { answer, calls } = asked
    const nowMs = parts.clock.now()
    const outcome = {
      task,
      calls,
      next: nextOf(facts, { answer, known, nowMs }),
      accounts: accountsOf(task, facts.order.currency),
    }
    if (answer.status === 'unknown' || !isPaid(facts)) return { kind: 'answered', outcome }
    return {
      kind: 'answered',
      outcome: {
        ...outcome,
        answer: {
          reference,
          currency: facts.order.currency,
          passedOnAtMs: message.type === 'dispute.status' ? undefined : nowMs,
          decide: (before, means, otherMinor) =>
            decide(parts, { ...facts, answer, reference, before, means, otherMinor, nowMs }),
        },
      },
    }
  }
}

async function messageOf(
  { disputes, vault }: AskAboutDisputeParts,
  of: { readonly task: ClaimedTask; readonly reference: string; readonly known: Dispute | undefined },
): Promise<DisputeMessage> {
  const common = {
    version: disputeVersion,
    disputeId: of.reference,
    transactionId: of.task.transactionId,
  }
  const { known } = of
  const response = known?.status === 'open' && known.passedOnAtMs === undefined ? known.response : undefined
  if (!known || !response) return { type: 'dispute.status', ...common }
  if (response.kind === 'accept') return { type: 'dispute.accept', ...common }
  const { evidenceId, text, file } = response
  const sealed = file && (await disputes.readFile(known))
  return {
    type: 'dispute.evidence',
    ...common,
    evidenceId,
    ...(text !== undefined && { text }),
    ...(file &&
      sealed && {
        file: {
          name: file.name,
          // Safe: checked when the evidence was given.
          contentType: file.contentType as 'application/pdf',
          content: vault.open(sealed, placeOfEvidence(known)).toString('base64'),
        },
      }),
  }
}

/** The merchant got the money of this attempt. */
function isPaid({ order, attempt }: OrderAndAttempt): boolean {
  return order.status === 'success' && order.transactionId === attempt.transactionId
}

function nextOf(
  facts: OrderAndAttempt,
  {
    answer,
    known,
    nowMs,
  }: { readonly answer: DisputeAnswer; readonly known: Dispute | undefined; readonly nowMs: number },
): DisputeOutcome['next'] {
  const isUnderWay = facts.attempt.endedAtMs === undefined
  if (answer.status === 'unknown')
    return known?.status === 'open' ? { dueAtMs: nowMs + againMs, failures: 0 } : undefined
  if (!isPaid(facts)) return isUnderWay ? { dueAtMs: nowMs + soonMs, failures: 0 } : undefined
  return answer.status === 'open' ? { dueAtMs: nowMs + againMs, failures: 0 } : undefined
}

function accountsOf({ merchantId, railId }: ClaimedTask, currency: string) {
  return [
    merchantAccount(merchantId, currency),
    owedAccount(merchantId, currency),
    disputesAccount(railId, currency),
    railAccount(railId, currency),
    feesAccount(merchantId, currency),
  ]
}

interface Deciding extends OrderAndAttempt {
  readonly answer: KnownAnswer
  readonly reference: string
  readonly before: Dispute | undefined
  readonly means: { readonly availableMinor: bigint; readonly owedMinor: bigint }
  readonly otherMinor: bigint
  readonly nowMs: number
}

function decide(parts: AskAboutDisputeParts, given: Deciding): DecidedDispute {
  const { order, attempt, answer, before, otherMinor, nowMs } = given
  const why = whyNotDisputed(order, answer, otherMinor)
  if (why !== undefined)
    return {
      kind: 'refused',
      why,
      emails: parts.makeEmails('rail-alert', {
        parameters: {
          rail: attempt.railId,
          paymentId: order.paymentId,
          amount: `${toDecimalText(BigInt(answer.amountMinor), order.currency)} ${order.currency}`,
          happened: `The rail reports a dispute that is not booked: ${why}`,
        },
        onceKey: `${attempt.railId} ${given.reference}`,
      }),
    }
  const opened = openDispute({ order, railId: attempt.railId, reference: given.reference }, answer, {
    disputeId: makeDisputeId(nowMs, parts.random),
    nowMs,
  })
  let events = 0
  const callbackId = () => makeCallbackId(nowMs + events++, parts.random)
  const change = decideDispute(before, opened, answer, { ...given, callbackId })
  return change
    ? { kind: 'changed', change, emails: emailsOf(parts, order.orderNo, change) }
    : { kind: 'unchanged' }
}

function emailsOf(
  { makeEmails }: AskAboutDisputeParts,
  orderNo: string,
  { dispute, callbacks }: DisputeChange,
) {
  if (callbacks.length === 0) return []
  const { merchantId, amountMinor, currency, status, respondByMs } = dispute
  const amount = `${toDecimalText(amountMinor, currency)} ${currency}`
  const parameters = { amount, orderNo }
  if (status !== 'open') return makeEmails(`dispute-${status}`, { merchantId, parameters })
  assert(status === 'open')
  return makeEmails('dispute-opened', {
    merchantId,
    parameters: { ...parameters, until: respondByMs === undefined ? '–' : writtenTime(respondByMs) },
  })
}
