// Finds orders for an operator: by any number, by filter, or all matching ones as a file.
import { paymentIdPattern, refundIdPattern, toDecimalText, transactionIdPattern } from '@tillgate/protocol'
import { csvRow } from '../../platform/runtime/csv.ts'
import { type Context, reading } from '../authority/context.ts'
import { bindWithin } from '../merchants/within.ts'
import { walletRailId } from './payments/rules/rail.ts'
import type {
  FoundOrders,
  ListedOrder,
  OrderFilter,
  OrderListStore,
  OrderPage,
  SoughtNumber,
} from './store/order-list.ts'

export type FindOrders = ReturnType<typeof makeFindOrders>

/** Small enough to be fast, large enough that a million rows need only a thousand round trips. */
const exportedAtOnce = 1_000

interface Parts {
  readonly stores: { readonly list: OrderListStore }
}

export function makeFindOrders(parts: Parts) {
  return {
    searchMerchants: reading(parts.stores.list.findMerchantsByName),
    ...bindWithin(parts, { listOrders, search, exportCsv }),
  }
}

async function listOrders(
  { stores }: Parts,
  _context: Context,
  filter: OrderFilter,
  page: OrderPage,
): Promise<FoundOrders> {
  return stores.list.listOrders(filter, page)
}

/** By paymentId, transactionId or refundId if it looks like one, else by a merchant's number. */
async function search(
  { stores: { list } }: Parts,
  { merchantId }: Context,
  text: string,
): Promise<readonly ListedOrder[]> {
  const number = text.toUpperCase()
  const kind = kindOf(number)
  const found = kind === undefined ? [] : await list.findByNumber({ kind, number, merchantId })
  if (found.length > 0) return found
  // A merchant's own numbers may look like ours.
  for (const each of new Set([text, number, text.toLowerCase()])) {
    const theirs = await list.findByNumber({ kind: 'merchantNumber', number: each, merchantId })
    if (theirs.length > 0) return theirs
  }
  return []
}

async function* exportCsv(
  { stores: { list } }: Parts,
  _context: Context,
  filter: OrderFilter,
): AsyncGenerator<string> {
  yield csvRow(heads)
  for (let before: string | undefined; ; ) {
    const { orders, next } = await list.listOrders(filter, { before, limit: exportedAtOnce })
    if (orders.length > 0) yield orders.map((order) => csvRow(cellsOf(order))).join('')
    if (next === undefined) return
    before = next
  }
}

/** Our ids start with a letter for the kind and the time, so this much matches few orders. */
const prefixPattern = /^[PTR]0[0-9A-HJKMNP-TV-Z]{5,24}$/

function kindOf(text: string): SoughtNumber | undefined {
  if (paymentIdPattern.test(text)) return 'paymentId'
  if (transactionIdPattern.test(text)) return 'transactionId'
  if (refundIdPattern.test(text)) return 'refundId'
  return prefixPattern.test(text) ? 'prefix' : undefined
}

const heads = [
  'created',
  'merchantId',
  'merchant',
  'paymentId',
  'orderNo',
  'status',
  'amount',
  'refunded',
  'currency',
  'transactionId',
  'completed',
  'description',
  'customer',
  'method',
]

function cellsOf(order: ListedOrder): string[] {
  return [
    new Date(order.createdAtMs).toISOString(),
    order.merchantId,
    order.merchantName,
    order.paymentId,
    order.orderNo,
    order.status,
    toDecimalText(order.paymentAmountMinor, order.currency),
    toDecimalText(order.refundedMinor, order.currency),
    order.currency,
    order.transactionId ?? '',
    order.completedAtMs === undefined ? '' : new Date(order.completedAtMs).toISOString(),
    order.title ?? '',
    order.customer ?? '',
    order.isByWallet ? walletRailId : (order.railId ?? ''),
  ]
}
