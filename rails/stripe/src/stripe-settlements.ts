// A day's payouts at Stripe, with what they contain. Only automatic payouts: Stripe does not list the contents of manual
// ones.
import type { ProviderLine, ProviderSettlements, SettlementsWanted } from '@tillgate/rail-kit/provider'
import type Stripe from 'stripe'
import { exactMinor } from './amounts.ts'

export async function readSettlements(
  stripe: Stripe,
  { day, cursor = '' }: SettlementsWanted,
): Promise<ProviderSettlements & { status: 'read' }> {
  const fromSeconds = Date.parse(day) / 1000
  const created = { gte: fromSeconds, lt: fromSeconds + 86_400 }
  const payouts: Stripe.Payout[] = []
  for await (const payout of stripe.payouts.list({ created, limit: 100 }))
    if (payout.automatic && payout.status !== 'failed' && payout.status !== 'canceled') payouts.push(payout)
  const isPending = payouts.some(({ reconciliation_status: status }) => status === 'in_progress')
  const [payoutId = payouts[0]?.id, after] = cursor === '' ? [] : cursor.split(' ')
  if (isPending || payoutId === undefined) return { status: 'read', isPending, lines: [] }
  const page = await stripe.balanceTransactions.list({
    payout: payoutId,
    limit: 100,
    ...(after !== undefined && { starting_after: after }),
    expand: ['data.source'],
  })
  const lines = page.data
    .filter(({ type }) => type !== 'payout')
    .map((each) => settlementLine(each, payoutId))
  const last = page.has_more ? page.data.at(-1)?.id : undefined
  const following = payouts[payouts.findIndex(({ id }) => id === payoutId) + 1]?.id
  return { status: 'read', lines, next: last === undefined ? following : `${payoutId} ${last}` }
}

function settlementLine(
  { id, type, created, amount, fee, currency, source }: Stripe.BalanceTransaction,
  batch: string,
): ProviderLine {
  const isCost = type === 'stripe_fee' || type === 'tax_fee'
  const of = typeof source === 'object' ? (source ?? undefined) : undefined
  const intent = of?.object === 'charge' ? of.payment_intent : undefined
  return {
    lineId: id,
    day: new Date(created * 1000).toISOString().slice(0, 10),
    amountMinor: isCost ? 0n : exactMinor(amount, currency),
    feeMinor: exactMinor(isCost ? -amount : fee, currency),
    currency: currency.toUpperCase(),
    batch,
    of: of?.object === 'charge' ? (typeof intent === 'string' ? intent : intent?.id) : of?.id,
  }
}
