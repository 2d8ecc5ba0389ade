// The money that a request for approval is about. The request itself names a payout, a run, a refund or a dispute only
// by its ID.
import type { ApprovalRequest } from '../../../core/authority/rules/approval.ts'
import type { OrderDetails } from '../../../finance/overview/show-order.ts'
import { describeBankDetails } from '../../../finance/payouts/rules/merchant-bank-account.ts'
import type { Payout } from '../../../finance/payouts/rules/payout.ts'
import { type Html, html } from '../../kit/html.ts'
import { orNothing, type Visit } from '../console.ts'
import { amount } from '../words.ts'

export type Row = readonly [label: string, content: Html]

type Ids = Readonly<Partial<Record<'payoutId' | 'runId' | 'refundId' | 'disputeId' | 'railId', string>>>

const payoutsShown = 3

/** `details`: the order of the request, if it names one. */
export async function moneyOf(
  { operations, context }: Visit,
  { merchantId = '', params }: ApprovalRequest,
  details: OrderDetails | undefined,
): Promise<readonly Row[]> {
  // Safe: these are text in every schema.
  const { payoutId, runId, refundId, disputeId, railId } = params as Ids
  const rows: Row[] = []
  if (payoutId !== undefined) {
    const found = await orNothing(operations.payouts.findPayout(context, { merchantId, payoutId }))
    if (found) rows.push(['Payout', payoutLine(found)])
  }
  if (runId !== undefined) {
    const found = await operations.payouts.listPayouts(context, { runId }, { limit: payoutsShown + 1 })
    for (const each of found.slice(0, payoutsShown)) rows.push(['Payout', payoutLine(each)])
    if (found.length > payoutsShown) rows.push(['Further payouts', html`on the page of the run`])
  }
  if (disputeId !== undefined) {
    const found = await operations.disputes.showDispute(context, { merchantId, disputeId })
    if (found) rows.push(['Disputed amount', amount(found.amountMinor, found.currency)])
  }
  if (refundId !== undefined) {
    const [order] = await operations.orders.search(context, refundId)
    const refunds = order && (await operations.showOrder(context, order))?.refunds
    const found = refunds?.find((each) => each.refundId === refundId)
    if (order && found)
      rows.push(
        ['Order', html`<a class="wrap" href="/orders/${merchantId}/${order.paymentId}">${order.orderNo}</a>`],
        ['Refund', amount(found.amountMinor, found.currency)],
      )
  }
  // The requester types the counterparty of a returned transfer.
  for (const { direction, railId: by, party, amountMinor, currency } of details?.transferEntries ?? [])
    if (direction === 'in' && by === railId)
      rows.push(['Received', html`${amount(amountMinor, currency)} from ${wrapped(party ?? 'unknown')}`])
  return rows
}

function payoutLine({ amountMinor, currency, account }: Payout): Html {
  return html`${amount(amountMinor, currency)} to ${wrapped(describeBankDetails(account))}`
}

const wrapped = (text: string) => html`<span class="wrap">${text}</span>`
