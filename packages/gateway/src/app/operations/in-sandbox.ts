// What the sandbox has beside: whatever a payment may do, time that moves on, and merchants who sign on by themselves.

import type { ManageMerchants } from '../../core/merchants/manage-merchants.ts'
import type { SubmitPayment } from '../../core/orders/payments/submit-payment.ts'
import type { ManageMembers } from '../../identity/members/manage-members.ts'
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
}

export function operationsInSandbox(stores: Stores, common: Common, parts: SandboxParts) {
  const { config, clock } = common
  return {
    chooseAtTestBank: makeChooseAtTestBank(common),
    sandboxPay: makeSandboxPay({ ...stores, ...common, submitPayment: parts.submitPayment }),
    sandboxAdvance: makeSandboxAdvance({ ...stores, ...common }),
    sandboxRequests: makeSandboxRequests(stores.requestLog),
    sandboxListen: makeSandboxListen({
      listens: stores.sandboxListens,
      prepare: parts.prepare,
      clock,
      // Whoever waits holds one of the places for requests: most of them are for others.
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
