// Consumers' wallets over the admin API: found, added, topped up, locked and unlocked.
import type { Wallet } from '../../../wallets/rules/wallet.ts'
import { type ApiRoute, currency, limit, pageOf, reason, route } from '../api.ts'
import { amount, list, object, oneOf, optional, present, text, timeMs } from '../fields.ts'
import { outcomeFields, toOutcome } from './approvals.ts'
import { balances, moneyOf, toBalance } from './merchants.ts'

const walletId = text('The wallet’s number.', { max: 64 })
const key = object('Which wallet.', { walletId })
const name = text('The consumer’s name.', { max: 256 })
const wallet = {
  walletId,
  login: text('Phone number or e-mail address.', { max: 320 }),
  name,
  status: oneOf('locked: it neither signs in nor pays.', ['active', 'locked']),
  lockedUntilMs: optional(timeMs('Too many wrong PINs: it signs in again from then on.')),
  createdAtMs: timeMs('Since when.'),
}

export const walletRoutes: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/wallets',
    id: 'listWallets',
    scope: 'wallets:read',
    summary: 'Wallets, the newest first',
    query: object('Which wallets.', {
      contains: optional(text('In login or name.', { max: 64 })),
      before: optional(walletId),
      limit,
    }),
    answer: object('A page.', {
      wallets: list('The newest first.', object('A wallet.', wallet)),
      older: optional(text('`before` of the next page; not there on the last one.', { max: 64 })),
    }),
    async act({ service, actor, query }) {
      const { items, ...older } = await pageOf(
        query,
        (page) => service.as(actor).wallets.listWallets(query.contains, page.limit, page.before),
        (each) => each.walletId,
      )
      return { wallets: items.map(toWallet), ...older }
    },
  }),
  route({
    method: 'POST',
    path: '/wallets',
    id: 'addWallet',
    scope: 'wallets:manage',
    summary: 'Add a wallet; its PIN is told this once',
    body: object('The wallet.', {
      login: text('Phone number with country code, or e-mail address.', { max: 320 }),
      name,
      reason,
    }),
    answer: object('The wallet.', {
      wallet: object('The wallet.', wallet),
      pin: text('Tell it to the consumer now.', { max: 12 }),
    }),
    async act({ service, actor, body }) {
      const { wallet: added, pin } = await service.as(actor).wallets.addWallet(body)
      if (pin === undefined) throw new Error('a PIN that was made here is known here')
      return { wallet: toWallet(added), pin }
    },
  }),
  route({
    method: 'GET',
    path: '/wallets/:walletId',
    id: 'showWallet',
    scope: 'wallets:read',
    summary: 'One wallet and what is in it',
    params: key,
    answer: object('A wallet.', { ...wallet, balances }),
    async act({ service, actor, params }) {
      const found = await service.as(actor).wallets.showWallet(params.walletId)
      return { ...toWallet(found.wallet), balances: found.balances.map(toBalance) }
    },
  }),
  ...(['lock', 'unlock'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/wallets/:walletId/${verb}`,
      id: `${verb}Wallet`,
      scope: 'wallets:act',
      summary:
        verb === 'lock'
          ? 'Neither sign-in nor payment until it is unlocked'
          : 'End a lock, also that of wrong PINs',
      params: key,
      body: object('Why.', { reason }),
      answer: object('The wallet.', wallet),
      act: async ({ service, actor, params, body }) =>
        toWallet(await service.as(actor).wallets[`${verb}Wallet`](params.walletId, body.reason)),
    }),
  ),
  route({
    method: 'POST',
    path: '/wallets/:walletId/top-ups',
    id: 'topUp',
    scope: 'money:move',
    summary: 'Put money into a wallet, from the operator’s funding account',
    params: key,
    body: object('How much.', { amount: amount('How much.'), currency, reason }),
    answer: object('It is done, or waits for a second operator.', outcomeFields),
    isOnce: true,
    async act({ service, operator, actor, params, body, actId }) {
      const outcome = await service
        .moneyActs({ operator, actor })
        .topUp(params.walletId, { ...moneyOf(body), actId })
      return outcome.kind === 'waiting' ? toOutcome(outcome.request) : { outcome: 'done' as const }
    },
  }),
]

function toWallet({ walletId: id, login, name: called, status, lockedUntilMs, createdAtMs }: Wallet) {
  return present({ walletId: id, login, name: called, status, lockedUntilMs, createdAtMs })
}
