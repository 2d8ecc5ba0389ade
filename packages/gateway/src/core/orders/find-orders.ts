// Finds orders for an operator: by whatever number they were told, by filter, or all that fit as a file.
import { paymentIdPattern, refundIdPattern, toDecimalText, transactionIdPattern } from '@tillgate/protocol'
import { csvRow } from '../../platform/runtime/csv.ts'
import { type Context, reading } from '../audit/context.ts'
import { bindWithin } from '../merchants/within.ts'
import type {
  FoundOrders,
  ListedOrder,
  OrderFilter,
  OrderListStore,
  OrderPage,
  SoughtNumber,
} from './store/order-list.ts'

export type FindOrders = ReturnType<typeof makeFindOrders>

/** Small enough to be quick, large enough that a million rows are a thousand round trips. */
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

/** By paymentId, transactionId or refundId where it looks like one, else by a number of the merchant's. */
async function search(
  { stores: { list } }: Parts,
  { merchantId }: Context,
  number: string,
): Promise<readonly ListedOrder[]> {
  const kind = kindOf(number)
  const found = await list.findByNumber({ kind, number, merchantId })
  // A merchant is free to write numbers that look like ours.
  return found.length > 0 || kind === 'merchantNumber'
    ? found
    : list.findByNumber({ kind: 'merchantNumber', number, merchantId })
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

function kindOf(text: string): SoughtNumber {
  if (paymentIdPattern.test(text)) return 'paymentId'
  if (transactionIdPattern.test(text)) return 'transactionId'
  return refundIdPattern.test(text) ? 'refundId' : 'merchantNumber'
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
  ]
}
