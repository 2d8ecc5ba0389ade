// Merchants over the admin API: signed on, changed, suspended, their keys, balances, payouts and statements.
import { toDecimalText, toPositiveMinorUnits } from '@tillgate/protocol'
import { availableMinor } from '../../../ledger/rules/ledger.ts'
import type { Account } from '../../../ledger/store/ledger.ts'
import type { MerchantSettings } from '../../../merchants/manage-merchants.ts'
import { type Merchant, normaliseColour } from '../../../merchants/rules/merchant.ts'
import {
  type ApiRoute,
  aesKey,
  callbackHosts,
  currency,
  limit,
  merchantId,
  pageOf,
  publicKey,
  reason,
  route,
} from '../api.ts'
import {
  amount,
  integer,
  list,
  longText,
  matching,
  object,
  oneOf,
  optional,
  present,
  text,
  timeMs,
} from '../fields.ts'
import { outcomeFields, toOutcome } from './approvals.ts'
import { keys, toKey } from './merchant-keys.ts'

const key = object('Which merchant.', { merchantId })
const settings = {
  requestsPerSecond: optional(integer('A limit of its own.', { min: 1, max: 999_999_999 })),
  callbackHosts: optional(callbackHosts),
  accentColour: optional(
    matching('Of the checkout.', { regexp: /^#[0-9A-Fa-f]{6}$/, expected: 'a colour such as `#1f6f5c`' }),
  ),
}
const name = text('As consumers read it on the checkout.', { max: 256 })
const merchant = {
  merchantId,
  name,
  status: oneOf('suspended: its requests are refused.', ['active', 'suspended']),
  ...settings,
  createdAtMs: timeMs('Since when.'),
}
export const balances = list(
  'By currency.',
  object('A balance.', {
    currency,
    available: amount('What can be used.'),
    held: amount('What is held for something under way.'),
  }),
)

export const merchantRoutes: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/merchants',
    id: 'listMerchants',
    scope: 'merchants:read',
    summary: 'Merchants, the newest first',
    query: object('Which page.', { before: optional(merchantId), limit }),
    answer: object('A page.', {
      merchants: list('The newest first.', object('A merchant.', merchant)),
      older: optional(text('`before` of the next page; not there on the last one.', { max: 18 })),
    }),
    async act({ service, actor, query }) {
      const all = (await service.as(actor).merchants.listMerchants()).toReversed()
      const { items, ...older } = await pageOf(
        query,
        async ({ before, limit: wanted }) => {
          const from =
            before === undefined ? 0 : all.findIndex((each) => each.merchantId === before) + 1 || all.length
          return all.slice(from, from + wanted)
        },
        (each) => each.merchantId,
      )
      return { merchants: items.map(toMerchant), ...older }
    },
  }),
  route({
    method: 'POST',
    path: '/merchants',
    id: 'addMerchant',
    scope: 'merchants:manage',
    summary: 'Sign a merchant on; its AES key is told this once',
    body: object('The merchant.', { name, ...settings, publicKey: optional(publicKey) }),
    answer: object('The merchant and its key.', {
      merchant: object('The merchant.', merchant),
      aesKey,
      platformPublicKey: longText('What callbacks are signed with, as PEM.', { max: 16_384 }),
    }),
    async act({ service, actor, body }) {
      const { name: called, publicKey: given, ...rest } = body
      const made = await service.as(actor).merchants.addMerchant({
        ...settingsOf(rest),
        name: called,
        ...(given !== undefined && { publicKey: given }),
      })
      return {
        merchant: toMerchant(made.merchant),
        aesKey: made.aesKey,
        platformPublicKey: await service.platformPublicKey(),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/merchants/:merchantId',
    id: 'showMerchant',
    scope: 'merchants:read',
    summary: 'One merchant with its keys and balances',
    params: key,
    answer: object('A merchant.', { ...merchant, keys, balances }),
    async act({ service, actor, params }) {
      const found = await service.as(actor).merchants.showMerchant(params.merchantId)
      const accounts = await service.merchantAccounts(params.merchantId)
      return {
        ...toMerchant(found.merchant),
        keys: found.keys.map(toKey),
        balances: accounts.map(toBalance),
      }
    },
  }),
  route({
    method: 'PATCH',
    path: '/merchants/:merchantId',
    id: 'changeMerchant',
    scope: 'merchants:manage',
    summary: 'Change what is given, leave the rest; everywhere within 5 seconds',
    params: key,
    body: object('What to change.', {
      name: optional(name),
      ...settings,
      clear: optional(
        list(
          'What goes back to the default.',
          oneOf('A setting.', Object.keys(settings) as (keyof typeof settings)[]),
        ),
      ),
      reason,
    }),
    answer: object('The merchant as it is now; its callback hosts may wait for a second operator.', {
      ...merchant,
      ...outcomeFields,
    }),
    async act({ service, operator, actor, params, body }) {
      const { clear = [], reason: why, ...given } = body
      const cleared = Object.fromEntries(clear.map((each) => [each, undefined]))
      const { merchant: changed, waiting } = await service
        .merchantActs({ operator, actor })
        .changeMerchant(params.merchantId, { ...settingsOf(given), ...cleared }, why)
      return { ...toMerchant(changed), ...(waiting ? toOutcome(waiting) : { outcome: 'done' as const }) }
    },
  }),
  ...(['suspend', 'resume'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/merchants/:merchantId/${verb}`,
      id: `${verb}Merchant`,
      scope: 'merchants:manage',
      summary: verb === 'suspend' ? 'Stop a merchant; nothing of it is lost' : 'Let a merchant go on',
      params: key,
      body: object('Why.', { reason }),
      answer: object('The merchant.', merchant),
      act: async ({ service, actor, params, body }) =>
        toMerchant(await service.as(actor).merchants[`${verb}Merchant`](params.merchantId, body.reason)),
    }),
  ),
  route({
    method: 'POST',
    path: '/merchants/:merchantId/payouts',
    id: 'payOut',
    scope: 'money:move',
    summary: 'Pay a merchant out: money leaves its wallet for the operator’s funding account',
    params: key,
    body: object('How much.', { amount: amount('How much.'), currency, reason }),
    answer: object('It is done, or waits for a second operator.', {
      ...outcomeFields,
      left: optional(amount('What is left in its wallet, where it was done at once.')),
    }),
    isOnce: true,
    async act({ service, operator, actor, params, body, actId }) {
      await service.as(actor).merchants.showMerchant(params.merchantId)
      const outcome = await service
        .moneyActs({ operator, actor })
        .payOut(params.merchantId, { ...moneyOf(body), actId })
      if (outcome.kind === 'waiting') return toOutcome(outcome.request)
      return { outcome: 'done' as const, left: toDecimalText(outcome.result, body.currency) }
    },
  }),
  route({
    method: 'GET',
    path: '/merchants/:merchantId/statement.csv',
    id: 'statement',
    scope: 'merchants:read',
    summary: 'Everything that moved in the merchant’s wallet, as CSV',
    params: key,
    query: object('Which time.', {
      sinceMs: optional(timeMs('From this time on.')),
      untilMs: optional(timeMs('Before this time.')),
    }),
    answer: 'csv',
    async act({ service, actor, params, query, nowMs }) {
      await service.as(actor).merchants.showMerchant(params.merchantId)
      const fromMs = query.sinceMs ?? 0
      const toMs = Math.max(fromMs, query.untilMs ?? nowMs + 1)
      return service.statement({ merchantId: params.merchantId, fromMs, toMs })
    },
  }),
]

/** Of a payout or a top-up. */
export function moneyOf({
  amount: written,
  currency: code,
  reason: why,
}: {
  amount: string
  currency: string
  reason: string
}) {
  return { currency: code, amountMinor: toPositiveMinorUnits(written, code, 'amount'), reason: why }
}

export function toBalance(account: Account) {
  const { currency: code } = account
  return {
    currency: code,
    available: toDecimalText(availableMinor(account), code),
    held: toDecimalText(account.debitsPendingMinor, code),
  }
}

function settingsOf<Given extends MerchantSettings>(given: Given): Given {
  const { accentColour, callbackHosts } = given
  return {
    ...given,
    ...(accentColour !== undefined && { accentColour: normaliseColour(accentColour) }),
    ...(callbackHosts && { callbackHosts: callbackHosts.map((host) => host.toLowerCase()) }),
  }
}

function toMerchant(given: Merchant) {
  return present({
    merchantId: given.merchantId,
    name: given.name,
    status: given.status,
    requestsPerSecond: given.requestsPerSecond,
    callbackHosts: given.callbackHosts && [...given.callbackHosts],
    accentColour: given.accentColour,
    createdAtMs: given.createdAtMs,
  })
}
