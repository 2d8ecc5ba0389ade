// A payment link as returned to merchants.
import { type LinkAnswer, type OrderOfLink, toWireAmount } from '@tillgate/protocol'
import type { Order } from '../../core/orders/rules/order.ts'
import { type LinkTotals, linkState, type PaymentLink } from './rules/link.ts'

export function linkUrl({ linkId }: Pick<PaymentLink, 'linkId'>, publicUrl: string): string {
  return `${publicUrl}/l/${linkId}`
}

export function answerLink(
  link: PaymentLink,
  { totals, nowMs, publicUrl }: { totals: LinkTotals; nowMs: number; publicUrl: string },
): LinkAnswer {
  const { linkId, linkNo, title, uses, currency, amountMinor, leastMinor, mostMinor, expiresAtMs } = link
  const money = (minor: bigint) => toWireAmount(minor, currency)
  return {
    linkId,
    linkNo,
    linkUrl: linkUrl(link, publicUrl),
    status: linkState(link, { isPaid: totals.paidCount > 0, nowMs }),
    title,
    uses,
    currency,
    ...(amountMinor !== undefined && { amount: money(amountMinor) }),
    ...(leastMinor !== undefined && { leastAmount: money(leastMinor) }),
    ...(mostMinor !== undefined && { mostAmount: money(mostMinor) }),
    ...(expiresAtMs !== undefined && { linkExpiryTime: expiresAtMs }),
    createTime: link.createdAtMs,
    paidCount: totals.paidCount,
    paidAmount: money(totals.paidMinor),
    refundedAmount: money(totals.refundedMinor),
  }
}

export function answerOrder(order: Order): OrderOfLink {
  const { paymentId, orderNo, status, currency, createdAtMs, completedAtMs } = order
  return {
    paymentId,
    orderNo,
    status,
    paymentAmount: toWireAmount(order.paymentAmountMinor, currency),
    refundedAmount: toWireAmount(order.refundedMinor, currency),
    createTime: createdAtMs,
    ...(status === 'success' && completedAtMs !== undefined && { paidTime: completedAtMs }),
  }
}
