// The gateway that is fuzzed over HTTP: whole, in this process so that its coverage is seen, with a merchant that has
// orders in several states and an operator whose token may do everything.

import { createPublicKey, type KeyObject } from 'node:crypto'
import { platformKeysPath } from '../../packages/gateway/src/adapters/merchant-api/platform-keys.ts'
import { reachingAll } from '../../packages/gateway/src/core/authority/context.ts'
import { scopeNames } from '../../packages/gateway/src/identity/operators/rules/api-token.ts'
import { type Clock, systemClock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import type { TestGateway, TestMerchant } from '../../packages/gateway/test/support/gateway.ts'
import { createBody } from '../../packages/gateway/test/support/order.ts'

export interface FuzzWorld {
  readonly gateway: TestGateway
  readonly merchant: TestMerchant
  readonly adminToken: string
  readonly platformKeys: readonly KeyObject[]
  /** Ids and numbers of orders that are there. */
  readonly words: readonly string[]
}

/** The limits are tested elsewhere; here they would only end the run. */
export const fuzzEnvironment = {
  MERCHANT_REQUESTS_PER_SECOND: '1000000',
  FAILED_OPENINGS_PER_MINUTE: '1000000',
  CALLBACK_HOSTS_PER_DAY: '0',
}

/** Time stands still, so that sealed seeds stay fresh; whoever waits does not wait long. */
export function makeFuzzClock(): Clock {
  const nowMs = Date.now()
  return {
    now: () => nowMs,
    wait: (durationMs, signal) => systemClock.wait(Math.min(durationMs, longestWaitMs), signal),
  }
}

const longestWaitMs = 50

export async function furnish(gateway: TestGateway): Promise<FuzzWorld> {
  const merchant = await gateway.addMerchant()
  const { token } = await gateway.operations.apiTokens.addToken(reachingAll('fuzz'), {
    login: 'admin',
    name: 'fuzz',
    scopes: scopeNames,
    days: 1,
  })
  const response = await fetch(`${gateway.url}${platformKeysPath}`)
  const { keys } = (await response.json()) as { keys: { publicKey: string }[] }
  return {
    gateway,
    merchant,
    adminToken: token,
    platformKeys: keys.map(({ publicKey }) => createPublicKey(publicKey)),
    words: await makeOrders(merchant, gateway.clock),
  }
}

async function makeOrders(merchant: TestMerchant, clock: Clock): Promise<string[]> {
  const words: string[] = []
  for (const outcome of ['none', 'success', 'failed', 'confirming', 'refund_fails']) {
    const body = createBody({ now: clock.now() })
    const { data } = await merchant.call('service.trade.create', body)
    words.push(data.paymentId, body.order.orderNo)
    if (outcome !== 'none') await merchant.call('service.sandbox.pay', { paymentId: data.paymentId, outcome })
  }
  return words
}
