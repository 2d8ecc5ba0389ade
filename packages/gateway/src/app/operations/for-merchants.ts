// What merchants ask for over their API.
import { makeAskBill } from '../../bills/ask-bill.ts'
import { makeReadBill } from '../../bills/read-bill.ts'
import { makeResendCallbacks } from '../../callbacks/resend-callbacks.ts'
import { makeReadEvents } from '../../events/read-events.ts'
import { makeCreateLink } from '../../links/create-link.ts'
import { makeCloseLink, makeQueryLink } from '../../links/query-link.ts'
import { makeCancelOrder } from '../../orders/cancel-order.ts'
import { makeCreateOrder } from '../../orders/create-order.ts'
import { makeQueryOrder } from '../../orders/query-order.ts'
import { makeTokens } from '../../platform/tokens.ts'
import { makeRefundOrder } from '../../refunds/refund-order.ts'
import type { Stores } from '../stores.ts'
import type { Common } from './common.ts'

export function operationsForMerchants(stores: Stores, common: Common) {
  const readBill = makeReadBill({ bills: stores.bills, clock: common.clock })
  return {
    createOrder: makeCreateOrder(common),
    queryOrder: makeQueryOrder({ ...stores, ...common }),
    cancelOrder: makeCancelOrder({ ...stores, ...common }),
    refundOrder: makeRefundOrder({ ...stores, ...common }),
    resendCallbacks: makeResendCallbacks({ ...stores, ...common, resends: stores.callbackResends }),
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
