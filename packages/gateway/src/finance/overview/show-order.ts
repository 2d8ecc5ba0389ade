// Everything known about one order, for operators.
import { makeRefundId, type RandomBytes } from '@tillgate/protocol'
import type { Context } from '../../core/authority/context.ts'
import type {
  CallbackHistory,
  StoredAttempt,
  StoredCallback,
} from '../../core/callbacks/store/callback-history.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import { bindWithin } from '../../core/merchants/within.ts'
import type { Capture } from '../../core/orders/captures/rules/capture.ts'
import type { CaptureStore } from '../../core/orders/captures/store/captures.ts'
import type { CurrentOrder } from '../../core/orders/current-order.ts'
import { capturesOf } from '../../core/orders/query-order.ts'
import type { Refund } from '../../core/orders/refunds/rules/refund.ts'
import type { RefundStore } from '../../core/orders/refunds/store/refunds.ts'
import type { Order, OrderKey } from '../../core/orders/rules/order.ts'
import type {
  OrderDetailsStore,
  OrderTransfer,
  RecordedChange,
} from '../../core/orders/store/order-details.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Attempt } from '../rails/rules/attempt.ts'
import type { TransferEntry } from '../rails/rules/bank-transfer.ts'
import type { RailAttemptStore } from '../rails/store/rail-attempts.ts'
import type { RecordedRailCall } from '../rails/store/rail-calls.ts'
import type { TransferEntryStore } from '../rails/store/transfer-entries.ts'

export interface CallbackWithAttempts {
  readonly callback: StoredCallback
  readonly attempts: readonly StoredAttempt[]
}

export interface OrderDetails {
  readonly order: Order
  readonly merchant: Merchant | undefined
  readonly refunds: readonly Refund[]
  readonly captures: readonly Capture[]
  readonly changes: readonly RecordedChange[]
  readonly transfers: readonly OrderTransfer[]
  /** Oldest first. */
  readonly attempts: readonly Attempt[]
  readonly railCalls: readonly RecordedRailCall[]
  readonly transferEntries: readonly TransferEntry[]
  readonly callbacks: readonly CallbackWithAttempts[]
  /** The number of a refund or capture from this page, so that a form that is sent twice takes effect once. */
  readonly newRefundNumber: string
}

export type ShowOrder = (context: Context, key: OrderKey) => Promise<OrderDetails | undefined>

const maxRailCalls = 200
/** Four events of the order, and one per refund. */
const maxCallbacks = 200

interface Parts {
  readonly stores: {
    readonly refunds: Pick<RefundStore, 'findOrderWithRefunds'>
    readonly captures: Pick<CaptureStore, 'listCaptures'>
    readonly merchants: Pick<MerchantStore, 'findMerchant'>
    readonly details: OrderDetailsStore
    readonly attempts: Pick<RailAttemptStore, 'listAttempts' | 'listCalls'>
    readonly transferEntries: Pick<TransferEntryStore, 'listEntries'>
    readonly history: Pick<CallbackHistory, 'listCallbacks' | 'listAttempts'>
  }
  readonly currentOrder: CurrentOrder
  readonly clock: Clock
  readonly random: RandomBytes
}

export function makeShowOrder(parts: Parts): ShowOrder {
  return bindWithin(parts, { showOrder }).showOrder
}

async function showOrder(parts: Parts, _context: Context, key: OrderKey): Promise<OrderDetails | undefined> {
  const { stores, clock } = parts
  const { refunds, merchants, details, history, attempts: tries } = stores
  const found = await refunds.findOrderWithRefunds(key)
  if (!found) return undefined
  const order = await parts.currentOrder(found.order, clock.now())
  const [merchant, changes, transfers, callbacks, attempts, railCalls, transferEntries] = await Promise.all([
    merchants.findMerchant(key.merchantId),
    details.listChanges(key),
    details.listTransfers(key),
    history.listCallbacks(key, { limit: maxCallbacks }),
    tries.listAttempts(key),
    tries.listCalls(key, maxRailCalls),
    stores.transferEntries.listEntries(key),
  ])
  return {
    order,
    merchant: merchant?.merchant,
    refunds: found.refunds,
    captures: await capturesOf(order, stores.captures),
    changes,
    transfers,
    attempts,
    railCalls,
    transferEntries,
    callbacks: await Promise.all(
      callbacks.toReversed().map(async (callback) => ({
        callback,
        attempts: await history.listAttempts(callback),
      })),
    ),
    newRefundNumber: `console-${makeRefundId(clock.now(), parts.random)}`,
  }
}
