// Consumers' wallets: found, added, topped up, locked and unlocked.
import { isWalletShut, type Wallet } from '../wallets/rules/wallet.ts'
import { type Act, defineAct, form } from './act.ts'
import { outcomeFields, tellWaiting, toOutcome } from './approval-acts.ts'
import { faced, list, object, oneOf, optional, text, timeMs } from './fields.ts'
import {
  balances,
  limit,
  nextPage,
  outsideChecks,
  outsideMoney,
  outsideMoneyOf,
  pageOf,
  reason,
  toBalance,
} from './shared-fields.ts'

const walletId = text('The wallet’s number.', { max: 64 })
const key = object('Which wallet.', { walletId: faced(walletId, { option: 'wallet' }) })
const name = text('The consumer’s name.', { max: 256 })
const wallet = {
  walletId,
  login: text('Phone number or e-mail address.', { max: 320 }),
  name,
  status: oneOf('locked: it neither signs in nor pays.', ['active', 'locked']),
  lockedUntilMs: optional(timeMs('Too many wrong PINs: it signs in again from then on.')),
  createdAtMs: timeMs('Since when.'),
}
const page = '/wallets/:walletId'
const labels = { lock: 'Lock…', unlock: 'Unlock…' } as const

export const walletActs: readonly Act[] = [
  defineAct({
    name: 'wallet.list',
    api: { method: 'GET', path: '/wallets', id: 'listWallets' },
    scope: 'wallets:read',
    summary: 'Wallets, the newest first',
    input: object('Which wallets.', {
      contains: optional(text('In login or name.', { max: 64 })),
      before: optional(walletId),
      limit,
    }),
    answer: object('A page.', {
      wallets: list('The newest first.', object('A wallet.', wallet)),
      older: optional(text(nextPage, { max: 64 })),
    }),
    command: { words: 'wallet list', columns: ['walletId', 'login', 'name', 'status'] },
    run: ({ service, actor, input }) =>
      pageOf('wallets', input, {
        read: (at) => service.as(actor).wallets.listWallets(input.contains, at.limit, at.before),
        keyOf: (each) => each.walletId,
      }),
  }),
  defineAct({
    name: 'wallet.add',
    api: { method: 'POST', path: '/wallets', id: 'addWallet' },
    scope: 'wallets:manage',
    summary: 'Add a wallet; its PIN is told this once',
    input: object('The wallet.', {
      login: text('Phone number with country code, or e-mail address.', { max: 320 }),
      name,
      pin: optional(
        faced(text('6 to 12 digits; made unless given.', { max: 12 }), {
          option: 'pin-file',
          isLong: true,
          only: 'command',
        }),
      ),
      reason,
    }),
    answer: object('The wallet.', {
      wallet: object('The wallet.', wallet),
      pin: text('Tell it to the consumer now.', { max: 12 }),
    }),
    command: { words: 'wallet add' },
    form: {
      place: 'wallets',
      path: '/wallets',
      page: '/wallets',
      label: 'Add a wallet…',
      explains: 'A PIN is made and shown once, for you to tell the consumer.',
      button: 'Add the wallet',
    },
    async run({ service, actor, input }) {
      const { wallet: made, pin } = await service.as(actor).wallets.addWallet(input)
      // Safe: only the command line gives one, and knows it then.
      return { wallet: made, pin: pin as string }
    },
    tell: ({ wallet: { walletId: id, login, name: called }, pin }, { input }) => ({
      text: `The wallet of ${called} is there.`,
      ...(input.pin === undefined && { secrets: [['PIN, for the consumer', pin]] }),
      page: `/wallets/${id}`,
      next: `wallet top-up ${login} --amount 100 --currency USD --reason TEXT`,
    }),
  }),
  defineAct({
    name: 'wallet.show',
    api: { method: 'GET', path: '/wallets/:walletId', id: 'showWallet' },
    scope: 'wallets:read',
    summary: 'One wallet and what is in it',
    params: key,
    answer: object('A wallet.', { ...wallet, balances }),
    command: { words: 'wallet show' },
    async run({ service, actor, params }) {
      const found = await service.as(actor).wallets.showWallet(params.walletId)
      return { ...found.wallet, balances: found.balances.map(toBalance) }
    },
  }),
  ...(['lock', 'unlock'] as const).map((verb) =>
    defineAct({
      name: `wallet.${verb}`,
      api: { method: 'POST', path: `/wallets/:walletId/${verb}`, id: `${verb}Wallet` },
      scope: 'wallets:act',
      summary:
        verb === 'lock'
          ? 'Neither sign-in nor payment until it is unlocked'
          : 'End a lock, also that of wrong PINs',
      params: key,
      input: object('Why.', { reason }),
      answer: object('The wallet.', wallet),
      command: { words: `wallet ${verb}` },
      form: form<Wallet>({
        place: 'wallet',
        path: `${page}/${verb}`,
        page,
        label: labels[verb],
        explains:
          verb === 'lock'
            ? 'It neither signs in nor pays until it is unlocked. Its money stays in it, and refunds still reach it.'
            : 'It signs in and pays again; wrong PINs are forgotten.',
        button: verb === 'lock' ? 'Lock the wallet' : 'Unlock the wallet',
        ...(verb === 'lock' && { isDangerous: true }),
        isOffered: (of, { nowMs }) => isWalletShut(of, nowMs) === (verb === 'unlock'),
      }),
      run: async ({ service, actor, params, input }) =>
        service.as(actor).wallets[`${verb}Wallet`](params.walletId, input.reason),
      tell: ({ status }) => ({ text: `The wallet is ${status}.` }),
    }),
  ),
  defineAct({
    name: 'wallet.reset-pin',
    api: { method: 'POST', path: '/wallets/:walletId/pin-resets', id: 'resetPin' },
    scope: 'wallets:manage',
    summary: 'Give out a one-time code for a new PIN; it is told this once',
    params: key,
    input: object('Why.', { reason }),
    answer: object('The code.', {
      code: text('Tell it to the consumer now.', { max: 12 }),
      expiresAtMs: timeMs('Until when it is good.'),
    }),
    command: { words: 'wallet reset-pin' },
    form: {
      place: 'wallet',
      path: `${page}/reset-pin`,
      page,
      label: 'Reset the PIN…',
      explains:
        'Make sure first that it is the wallet’s owner who asks: whoever has the code sets a new PIN and pays. The code is shown once, good for 15 minutes and five tries; the old PIN works until it is used. Wrong tries are forgotten.',
      button: 'Give out a code',
      isDangerous: true,
    },
    run: ({ service, actor, params, input }) =>
      service.as(actor).wallets.resetPin(params.walletId, input.reason),
    tell: ({ code }, { params }) => ({
      text: 'The code is good for 15 minutes. The consumer enters it on any checkout, under “Forgotten your PIN?”.',
      secrets: [['One-time code, for the consumer', code]],
      page: `/wallets/${params.walletId}`,
    }),
  }),
  defineAct({
    name: 'wallet.top-up',
    api: { method: 'POST', path: '/wallets/:walletId/top-ups', id: 'topUp' },
    scope: 'money:move',
    summary: 'Put money into a wallet, from one of the operator’s bank accounts',
    params: key,
    input: object('How much.', outsideMoney),
    checks: outsideChecks,
    answer: object('It is done, or waits for a second operator.', outcomeFields),
    isOnce: true,
    command: { words: 'wallet top-up' },
    form: {
      place: 'wallet',
      path: `${page}/top-up`,
      page,
      label: 'Top up…',
      explains: 'Money comes from one of the operator’s bank accounts into this wallet.',
      button: 'Top up',
    },
    async run({ service, operator, actor, params, input, actId }) {
      const outcome = await service
        .moneyActs({ operator, actor })
        .topUp(params.walletId, { ...outsideMoneyOf(input), actId })
      if (outcome.kind === 'waiting') return toOutcome(outcome.request)
      return { outcome: 'done' as const, doneBeforeMs: outcome.doneBeforeMs }
    },
    tell: (answer, { input }) =>
      tellWaiting(answer) ?? { text: `${input.amount} ${input.currency} is in the wallet.` },
  }),
]
