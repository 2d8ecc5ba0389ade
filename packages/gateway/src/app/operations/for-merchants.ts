// What merchants request over their API.

import { makeReadEvents } from '../../core/callbacks/events/read-events.ts'
import { makeResendCallbacks } from '../../core/callbacks/resend-callbacks.ts'
import { makeCancelOrder } from '../../core/orders/cancel-order.ts'
import { makeCaptureOrder, makeReleaseOrder } from '../../core/orders/captures/capture-order.ts'
import { makeCreateOrder } from '../../core/orders/create-order.ts'
import { makeListOrders } from '../../core/orders/list-orders.ts'
import { makeQueryOrder } from '../../core/orders/query-order.ts'
import { makeRefundOrder } from '../../core/orders/refunds/refund-order.ts'
import { makeScanOrder } from '../../core/orders/scans/scan-order.ts'
import { makeAskBill } from '../../finance/bills/ask-bill.ts'
import { makeReadBill } from '../../finance/bills/read-bill.ts'
import { makeCreateLink } from '../../finance/links/create-link.ts'
import { makeCloseLink, makeQueryLink } from '../../finance/links/query-link.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'

export function operationsForMerchants(stores: Stores, common: Common) {
  const readBill = makeReadBill({ bills: stores.bills, clock: common.clock })
  return {
    createOrder: makeCreateOrder(common),
    queryOrder: makeQueryOrder({ ...stores, ...common }),
    listOrders: makeListOrders({ ...stores, ...common }),
    cancelOrder: makeCancelOrder({ ...stores, ...common }),
    captureOrder: makeCaptureOrder({ ...stores, ...common, askRailNow: common.payByRail.look }),
    releaseOrder: makeReleaseOrder({ ...stores, ...common, askRailNow: common.payByRail.look }),
    scanOrder: makeScanOrder({
      ...stores,
      ...common,
      defaultLimits: common.config.walletLimits,
      scanLimits: common.config.scanLimits,
    }),
    refundOrder: makeRefundOrder({ ...stores, ...common }),
    resendCallbacks: makeResendCallbacks({
      ...common,
      findOrder: stores.orders.findOrder,
      resends: stores.callbackResends,
    }),
    createLink: makeCreateLink({ ...stores, ...common }),
    queryLink: makeQueryLink({ ...stores, ...common }),
    closeLink: makeCloseLink({ ...stores, ...common }),
    bills: makeAskBill({
      ...common,
      readBill,
      tokens: makeTokens(common.vault.deriveKeys('bill downloads')),
    }),
    readBill,
    readEvents: makeReadEvents({ events: stores.events, clock: common.clock }),
  }
}
