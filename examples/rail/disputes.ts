// The test bank's disputes: opened and decided by people on its pages, answered by the merchant through the gateway.
import type { DisputeAnswer, DisputeMessage, DisputeStatus } from '@tillgate/protocol'
import { type Html, html } from '../page.ts'
import type { Bank, Payment } from './bank.ts'

export interface Dispute {
  readonly disputeId: string
  readonly transactionId: string
  readonly notifyUrl: string
  readonly amountMinor: string
  readonly currency: string
  readonly status: DisputeStatus
  readonly respondBy: number
  /** What the merchant sent. */
  readonly evidence?: string
}

/** What people choose on the bank's pages. */
export const decisions: ReadonlyMap<string, DisputeStatus> = new Map([
  ['dispute', 'open'],
  ['win', 'won'],
  ['lose', 'lost'],
])
const respondsWithinMs = 7 * 24 * 60 * 60_000

export function makeDisputes(now: () => number, write: (dispute: Dispute) => void) {
  const disputes = new Map<string, Dispute>()
  const of = (transactionId: string) =>
    [...disputes.values()].filter((each) => each.transactionId === transactionId)

  /** Opens a dispute of a paid payment, or ends the one that is open. */
  function decide(paid: Payment | undefined, status: DisputeStatus): void {
    if (paid?.status !== 'approved') return
    const { transactionId, notifyUrl, amountMinor, currency } = paid
    const open = of(transactionId).find((each) => each.status === 'open')
    if (open && status !== 'open') write({ ...open, status })
    if (open || status !== 'open' || of(transactionId).some((each) => each.status === 'lost')) return
    const disputeId = `DSP-${disputes.size + 1}-${transactionId.slice(-6)}`
    const respondBy = now() + respondsWithinMs
    write({ disputeId, transactionId, notifyUrl, amountMinor, currency, status, respondBy })
  }

  /** An accepted dispute is lost. Evidence is taken once. */
  function answer(message: DisputeMessage): DisputeAnswer {
    const found = disputes.get(message.disputeId)
    if (found?.transactionId !== message.transactionId) return { status: 'unknown' }
    const { evidence } = found
    if (found.status === 'open' && message.type === 'dispute.accept') write({ ...found, status: 'lost' })
    if (found.status === 'open' && message.type === 'dispute.evidence' && evidence === undefined)
      write({ ...found, evidence: [message.text, message.file?.name].filter(Boolean).join(' · ') })
    return answerOf(disputes.get(message.disputeId) ?? found)
  }

  const learn = (dispute: Dispute) => void disputes.set(dispute.disputeId, dispute)
  return { of, decide, answer, learn }
}

function answerOf({ status, amountMinor, currency, respondBy, evidence }: Dispute): DisputeAnswer {
  const accepts = (['evidence', 'accept'] as const).filter(
    (each) => each === 'accept' || evidence === undefined,
  )
  return { status, amountMinor, currency, reason: 'not_received', respondBy, accepts }
}

const kinds = { open: 'wait', won: 'good', lost: 'bad' } as const

/** A payment's disputes, and what the consumer's bank can decide. */
export function disputesPart({ transactionId, status, reference }: Payment, bank: Bank): Html | false {
  const disputes = bank.disputes.of(transactionId)
  const shown = disputes.map(
    (each) =>
      html`<p>Dispute <span class="badge ${kinds[each.status]}">${each.status}</span>${each.evidence !== undefined && html`<br><span class="quiet">Evidence: ${each.evidence}</span>`}</p>`,
  )
  if (status !== 'approved') return false
  const isOpen = disputes.some((each) => each.status === 'open')
  const isLost = disputes.some((each) => each.status === 'lost')
  const choices = isLost
    ? []
    : isOpen
      ? [
          ['win', 'Merchant wins'],
          ['lose', 'Merchant loses'],
        ]
      : [['dispute', 'Dispute']]
  return html`${shown}<form method="post" action="/pay/${transactionId}" class="row"><input type="hidden" name="stay" value="1">
${choices.map(([name, label]) => html`<button name="choice" value="${name}" aria-label="${label}: ${reference}">${label}</button> `)}</form>`
}
