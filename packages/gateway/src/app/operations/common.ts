// What several operations share, made once. Each takes what it needs of it.

import { PlatformKeys } from '../../keys/platform-keys.ts'
import { CallbackHosts } from '../../merchants/callback-hosts.ts'
import { MerchantDirectory } from '../../merchants/merchant-directory.ts'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import { makeMakeNotices } from '../../notices/make-notices.ts'
import { makeCurrentOrder } from '../../orders/current-order.ts'
import { makePlaceOrder } from '../../orders/place-order.ts'
import { checkUrl, parseUrlPolicy, publicOnly } from '../../platform/ssrf-guard.ts'
import { makeTokens } from '../../platform/tokens.ts'
import { makeAskRails } from '../../rails/ask-rails.ts'
import { makePayByRail } from '../../rails/pay-by-rail.ts'
import type { RailPost } from '../../rails/rail-client.ts'
import { RailDirectory } from '../../rails/rail-directory.ts'
import { PriceDirectory } from '../../treasury/price-directory.ts'
import { makeTellOwner } from '../../wallets/tell-owner.ts'
import type { Stores } from '../stores.ts'
import { type OperationParts, unheard } from './parts.ts'

export type Common = ReturnType<typeof makeCommon>

export function makeCommon(stores: Stores, parts: OperationParts) {
  const { config, publicUrl, vault, clock, random } = parts
  const hints = { ...unheard, ...parts.hints }
  const onTask = () => hints.railTask()
  const onPending = (expiresAtMs: number) => hints.pending(expiresAtMs)
  const makeNotices = makeMakeNotices({ vault, clock, random, isMailing: config.mail !== undefined })
  const urlPolicy = parseUrlPolicy({
    mode: config.mode,
    allowedTargets: config.callbackAllowedTargets,
    ...(parts.ownListeners && { ownListeners: parts.ownListeners }),
  })
  const platformKeys = new PlatformKeys({ store: stores.platformKeys, vault })
  const basis = {
    config,
    publicUrl,
    vault,
    clock,
    random,
    hints,
    onTask,
    onPending,
    onSubmitted(railId?: string) {
      hints.submitted()
      if (railId !== undefined) onTask()
    },
    directory: new MerchantDirectory({ store: stores.merchants, vault }),
    currentOrder: makeCurrentOrder({ orders: stores.orders, random }),
    prices: new PriceDirectory({ store: stores.priceLists, clock }),
    railDirectory: new RailDirectory({
      store: stores.rails,
      vault,
      clock,
      onAlert: (message, about) => hints.railAlert(message, about),
    }),
    linkTokens: makeTokens(vault.deriveKeys('checkout links')),
    pinResetCodes: makeTokens(vault.deriveKeys('PIN reset codes')),
    makeNotices,
    tellOwner: makeTellOwner({ makeNotices, clock }),
    post: parts.railPost ?? noWayOut,
  }
  const askRails = makeAskRails({
    ...stores,
    ...basis,
    lateMoney: config.lateMoney,
    onTrouble: (error, task) => hints.askingFailed(error, task),
    onAlert: (message, task) => hints.railAlert(message, task),
  })
  return {
    ...basis,
    platformKeys,
    platformPublicKey: async () => (await platformKeys.signing(clock.now())).publicKey,
    refusalOfCallbackUrl(url: string, { isSelfRegistered }: Merchant): string | undefined {
      const check = checkUrl(url, isSelfRegistered ? publicOnly(urlPolicy) : urlPolicy)
      return check.kind === 'refused' ? check.detail : undefined
    },
    askRails,
    payByRail: makePayByRail({ ...stores, ...basis, askRails }),
    placeOrder: makePlaceOrder({
      orders: stores.orders,
      callbackHosts: new CallbackHosts({
        merchants: stores.merchants,
        maxHostsPerDay: config.callbackHostsPerDay,
        clock,
      }),
      urlPolicy,
      onPending,
    }),
  }
}

const noWayOut: RailPost = async () => ({
  kind: 'unreachable',
  reason: 'connect',
  detail: 'this program sends nothing to rails',
  durationMs: 0,
})
