// The sandbox's additional operations: paying with a chosen outcome, advancing time, and self-service access.

import type { ManageMerchants } from '../../core/merchants/manage-merchants.ts'
import type { SubmitPayment } from '../../core/orders/payments/submit-payment.ts'
import type { ManageMembers } from '../../identity/members/manage-members.ts'
import { type DemoOrdersParts, makeDemoOrders } from '../../sandbox/demo-orders.ts'
import { makeOpenDemoPortal } from '../../sandbox/demo-portal.ts'
import { makeSandboxAccess } from '../../sandbox/sandbox-access.ts'
import { makeSandboxAdvance } from '../../sandbox/sandbox-advance.ts'
import { makeSandboxListen, type SandboxListenParts } from '../../sandbox/sandbox-listen.ts'
import { makeSandboxPay } from '../../sandbox/sandbox-pay.ts'
import { makeSandboxRequests } from '../../sandbox/sandbox-requests.ts'
import { makeChooseAtTestBank } from '../../sandbox/test-bank.ts'
import type { Stores } from '../database/stores.ts'
import type { Common } from './common.ts'

export interface SandboxParts {
  readonly submitPayment: SubmitPayment
  readonly prepare: SandboxListenParts['prepare']
  readonly members: ManageMembers
  readonly merchants: ManageMerchants
  readonly forMerchants: Pick<DemoOrdersParts, 'createOrder' | 'refundOrder' | 'cancelOrder' | 'createLink'>
}

export function operationsInSandbox(stores: Stores, common: Common, parts: SandboxParts) {
  const { config, clock } = common
  const sandboxPay = makeSandboxPay({ ...stores, ...common, submitPayment: parts.submitPayment })
  const sandboxAdvance = makeSandboxAdvance({ ...stores, ...common })
  const addOrders = makeDemoOrders({
    ...parts.forMerchants,
    sandboxPay,
    sandboxAdvance,
    findOrder: stores.orders.findOrderByNumber,
    findLink: stores.links.findByNumber,
    clock,
  })
  return {
    chooseAtTestBank: makeChooseAtTestBank(common),
    sandboxPay,
    sandboxAdvance,
    openDemoPortal: makeOpenDemoPortal({ ...stores, ...common, addOrders }),
    sandboxRequests: makeSandboxRequests(stores.requestLog),
    sandboxListen: makeSandboxListen({
      listens: stores.sandboxListens,
      prepare: parts.prepare,
      clock,
      // A waiting request occupies a slot, and most slots are reserved for other requests.
      maxWaiting: Math.ceil(config.requestsInFlightMax / 4),
    }),
    sandboxAccess: makeSandboxAccess({
      ...common,
      merchants: parts.merchants,
      members: parts.members,
      access: stores.sandboxAccess,
      maxPerDay: config.sandboxMerchantsPerDay,
    }),
  }
}
