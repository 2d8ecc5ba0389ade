// What several operations share, created once.

import type { Post } from '../../core/callbacks/deliver-callbacks.ts'
import { makeHasEndpoints } from '../../core/callbacks/has-endpoints.ts'
import { unpublished } from '../../core/changes/rules/change.ts'
import { makeMakeEmails } from '../../core/emails/make-emails.ts'
import { PlatformKeys } from '../../core/keys/platform-keys.ts'
import { CallbackHosts } from '../../core/merchants/callback-hosts.ts'
import { makeIsNameMissing } from '../../core/merchants/callback-names.ts'
import { MerchantDirectory } from '../../core/merchants/merchant-directory.ts'
import { makeRecordKeyUse } from '../../core/merchants/note-key-use.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import { makeCurrentOrder } from '../../core/orders/current-order.ts'
import { makeExplainMissingOrder } from '../../core/orders/explain-missing-order.ts'
import { PriceDirectory } from '../../core/orders/fees/price-directory.ts'
import { makePlaceOrder } from '../../core/orders/place-order.ts'
import { makeNotifyOwner } from '../../core/wallets/notify-owner.ts'
import { makeAskRails } from '../../finance/rails/ask-rails.ts'
import { makePayByRail } from '../../finance/rails/pay-by-rail.ts'
import type { RailPost } from '../../finance/rails/rail-client.ts'
import { RailDirectory } from '../../finance/rails/rail-directory.ts'
import { readHere } from '../../finance/reconciliation/read-file.ts'
import { makeTokens } from '../../platform/runtime/secrets/tokens.ts'
import { checkUrl, parseUrlPolicy, publicOnly } from '../../platform/runtime/ssrf-guard.ts'
import type { Stores } from '../database/stores.ts'
import type { OperationParts } from './parts.ts'

export type Common = ReturnType<typeof makeCommon>

export function makeCommon(stores: Stores, parts: OperationParts) {
  const { config, publicUrl, vault, clock, random, log, publish = unpublished } = parts
  const makeEmails = makeMakeEmails({ vault, clock, random, isMailing: config.mail !== undefined })
  const targets = {
    allowedTargets: config.callbackAllowedTargets,
    ...(parts.ownListeners && { ownListeners: parts.ownListeners }),
  }
  const urlPolicy = parseUrlPolicy({ ...targets, mode: config.mode })
  // The policy of the client for rails, which also allows private addresses.
  const railUrlPolicy = parseUrlPolicy({ ...targets, mode: 'sandbox' })
  const platformKeys = new PlatformKeys({ store: stores.platformKeys, vault })
  const directory = new MerchantDirectory({ store: stores.merchants, vault })
  const basis = {
    config,
    publicUrl,
    vault,
    clock,
    random,
    log,
    publish,
    directory,
    currentOrder: makeCurrentOrder({ orders: stores.orders, random }),
    explainMissingOrder: makeExplainMissingOrder(stores),
    prices: new PriceDirectory({ store: stores.priceLists, clock }),
    railDirectory: new RailDirectory({
      store: stores.rails,
      vault,
      clock,
      log,
    }),
    linkTokens: makeTokens(vault.deriveKeys('checkout links')),
    payCodeHashes: makeTokens(vault.deriveKeys('pay codes')),
    pinResetCodes: makeTokens(vault.deriveKeys('PIN reset codes')),
    makeEmails,
    notifyOwner: makeNotifyOwner({ makeEmails, clock }),
    post: parts.railPost ?? noWayOut,
    postCallback: parts.callbackPost ?? noWayOut,
    statementFiles: parts.statementFiles ?? readHere,
  }
  const askRails = makeAskRails({
    ...stores,
    ...basis,
    lateMoney: config.lateMoney,
  })
  return {
    ...basis,
    platformKeys,
    platformPublicKey: async () => (await platformKeys.signing(clock.now())).publicKey,
    refusalOfCallbackUrl(url: string, { isSelfRegistered }: Merchant): string | undefined {
      const check = checkUrl(url, isSelfRegistered ? publicOnly(urlPolicy) : urlPolicy)
      return check.kind === 'refused' ? check.detail : undefined
    },
    refusalOfRailUrl(url: string): string | undefined {
      const check = checkUrl(url, railUrlPolicy)
      return check.kind === 'refused' ? check.detail : undefined
    },
    recordKeyUse: makeRecordKeyUse({
      merchants: stores.merchants,
      directory,
      clock,
      random,
      publish,
      log,
    }),
    askRails,
    payByRail: makePayByRail({ ...stores, ...basis, askRails }),
    hasEndpoints: makeHasEndpoints({ ...stores, clock }),
    isNameMissing: makeIsNameMissing({ lookup: parts.lookup, urlPolicy, clock }),
    placeOrder: makePlaceOrder({
      orders: stores.orders,
      callbackHosts: new CallbackHosts({
        merchants: stores.merchants,
        maxHostsPerDay: config.callbackHostsPerDay,
        clock,
      }),
      urlPolicy,
    }),
  }
}

const noWayOut: RailPost & Post = async () => ({
  kind: 'unreachable',
  reason: 'connect',
  detail: 'this program sends no messages',
  durationMs: 0,
})
