// Mollie's settlements, from its Settlements API. The API requires an organization access token, which has no test mode.
import { maxSettlementLines, toMinorUnits } from '@tillgate/protocol'
import type { ProviderLine, ProviderSettlements } from '@tillgate/rail-kit/provider'
import type { MollieAmount, MollieApi, Page } from './mollie-api.ts'

interface Settlement {
  readonly id: string
  /** As on the bank statement. */
  readonly reference: string | null
  readonly settledAt: string | null
  readonly status: 'open' | 'pending' | 'paidout' | 'failed'
  readonly amount: MollieAmount
  /** By year and month. */
  readonly periods?: Readonly<Record<string, Readonly<Record<string, { readonly costs?: readonly Cost[] }>>>>
}

interface Cost {
  readonly amountGross: MollieAmount
}

/** A payment, refund or chargeback. */
interface Moved {
  readonly id: string
  readonly createdAt: string
  readonly paidAt?: string
  readonly amount: MollieAmount
  /** In the settlement's currency, negative for deductions. */
  readonly settlementAmount?: MollieAmount | null
}

const kinds: readonly string[] = ['payments', 'refunds', 'chargebacks']

/** The cursor is the settlement, the kind, and the id to continue from. */
export async function readSettlements(
  api: MollieApi,
  { day, cursor = '' }: { readonly day: string; readonly cursor: string | undefined },
): Promise<ProviderSettlements> {
  const settlements = await settlementsOf(api, day)
  if (settlements.some(({ status }) => status === 'pending')) return { isPending: true, lines: [] }
  const [id = settlements[0]?.id, kind = 'payments', from = ''] = cursor === '' ? [] : cursor.split(' ')
  const at = settlements.findIndex((each) => each.id === id)
  const settlement = settlements[at]
  if (!settlement) return { lines: [] }
  const path = `/v2/settlements/${settlement.id}/${kind}?limit=${maxSettlementLines - 1}${from && `&from=${from}`}`
  const page = await api.read<Page<Moved>>(path)
  const lines = (page._embedded?.[kind] ?? []).map((moved) => lineOf(moved, kind, settlement))
  const more = new URL(page._links?.next?.href ?? 'https://mollie').searchParams.get('from')
  const followingKind = kinds[kinds.indexOf(kind) + 1]
  const following = settlements[at + 1]
  return {
    lines: kind === 'payments' && from === '' ? [...lines, ...costsOf(settlement, day)] : lines,
    next: more
      ? `${settlement.id} ${kind} ${more}`
      : followingKind
        ? `${settlement.id} ${followingKind}`
        : following && `${following.id} payments`,
  }
}

async function settlementsOf(api: MollieApi, day: string): Promise<Settlement[]> {
  const found: Settlement[] = []
  await api.find<Settlement>('/v2/settlements?limit=50', 'settlements', (settlement) => {
    const settledOn = settlement.settledAt === null ? undefined : dayOf(settlement.settledAt)
    if (settledOn !== undefined && settledOn < day) return 'stop'
    if (settledOn === day && settlement.status !== 'failed') found.push(settlement)
    return false
  })
  return found
}

function lineOf(
  { id, createdAt, paidAt, amount, settlementAmount }: Moved,
  kind: string,
  settlement: Settlement,
): ProviderLine {
  const isIn = kind === 'payments'
  const minor = settlementAmount ? minorOf(settlementAmount) : minorOf(amount) * (isIn ? 1n : -1n)
  return {
    lineId: id,
    day: dayOf(paidAt ?? createdAt),
    amountMinor: minor,
    feeMinor: 0n,
    currency: (settlementAmount ?? amount).currency,
    batch: batchOf(settlement),
    of: id,
  }
}

/** Mollie reports its fees by month and payment method, not by payment. */
function costsOf(settlement: Settlement, day: string): ProviderLine[] {
  const { id, amount, periods = {} } = settlement
  const costs = Object.values(periods)
    .flatMap((months) => Object.values(months))
    .flatMap((month) => month.costs ?? [])
  const sum = costs.reduce((total, { amountGross }) => total + minorOf(amountGross), 0n)
  const { currency } = amount
  const batch = batchOf(settlement)
  return sum === 0n ? [] : [{ lineId: `${id} costs`, day, amountMinor: 0n, feeMinor: sum, currency, batch }]
}

const batchOf = ({ reference, id }: Settlement) => reference ?? id
const dayOf = (time: string) => new Date(time).toISOString().slice(0, 10)

function minorOf({ value, currency }: MollieAmount): bigint {
  const isNegative = value.startsWith('-')
  const minor = toMinorUnits(isNegative ? value.slice(1) : value, currency, 'amount')
  return isNegative ? -minor : minor
}
