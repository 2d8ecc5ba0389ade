// Consumers' wallets: find, add, top up, lock and unlock.
import { digitsOf, isCurrencyCode, toDecimalText, toMinorUnits } from '@tillgate/protocol'
import { describeLimits, type Limits } from '../../core/wallets/rules/limits.ts'
import { isWalletShut, type Wallet } from '../../core/wallets/rules/wallet.ts'
import type { ShownWallet } from '../../identity/consumers/manage-wallets.ts'
import { type Action, defineAction, form } from '../action.ts'
import {
  amount,
  described,
  displayed,
  list,
  longText,
  object,
  oneOf,
  optional,
  text,
  timeMs,
  yesNo,
} from '../fields.ts'
import { doneBefore, replyDoneBefore } from '../running/done-before.ts'
import {
  balances,
  currency,
  limit,
  merchantId,
  nextPage,
  outsideChecks,
  outsideMoney,
  outsideMoneyOf,
  pageOf,
  reason,
  shownWhole,
  toBalance,
} from '../shared-fields.ts'
import { pinWallet } from './pin-wallet.ts'

const walletId = text('The wallet’s ID.', { max: 64 })
const key = object('Which wallet.', { walletId: displayed(walletId, { option: 'wallet' }) })
const name = text('The consumer’s name.', { max: 256 })
const wallet = {
  walletId,
  login: text('Phone number or email address.', { max: 320 }),
  name,
  status: oneOf('locked: no sign-in and no payment. closed: permanently.', ['active', 'locked', 'closed']),
  lockedUntilMs: optional(timeMs('End of the lock after too many wrong PINs.')),
  createdAtMs: timeMs('Time of creation.'),
}
const shownWallet = object('A wallet.', {
  ...wallet,
  balances,
  limits: list(
    'Limits specific to this wallet, by currency. Other currencies have the gateway’s defaults.',
    object('The limits in one currency.', {
      currency,
      payment: optional(amount('Maximum per payment.')),
      day: optional(amount('Maximum per day (UTC).')),
      balance: optional(amount('Maximum balance after a top-up.')),
    }),
  ),
})
const exported = object('The complete export.', {
  ...shownWallet.properties,
  payments: list(
    'Orders that the wallet paid or tried to pay, oldest first.',
    object('An order.', {
      merchantId,
      merchantName: text('The merchant’s name.', { max: 256 }),
      paymentId: text('The paymentId.', { max: 32 }),
      orderNo: text('The merchant’s orderNo.', { max: 64 }),
      status: text('The order’s status.', { max: 16 }),
      currency,
      amount: amount('The requested amount.'),
      refunded: amount('The refunded amount.'),
      createdAtMs: timeMs('When it was created.'),
      completedAtMs: optional(timeMs('When it ended.')),
      order: longText('The merchant’s data about the order as JSON text, unless erased.', {
        max: 262_144,
      }),
    }),
  ),
  movements: list(
    'Ledger transfers of the wallet, oldest first.',
    object('A movement.', {
      transferId: text('The transfer’s ID.', { max: 30 }),
      kind: text('The purpose.', { max: 32 }),
      phase: text('hold, post, void or direct.', { max: 16 }),
      currency,
      amount: amount('Positive for money in.'),
      paymentId: optional(text('The paymentId.', { max: 32 })),
      madeAtMs: timeMs('The time.'),
    }),
  ),
  withdrawals: list(
    'Withdrawals to bank accounts, oldest first.',
    object('A withdrawal.', {
      payoutId: text('The withdrawal’s ID.', { max: 30 }),
      status: text('requested, sent, paid, returned or cancelled.', { max: 16 }),
      currency,
      amount: amount('The withdrawn amount.'),
      account: longText('The destination account as JSON text.', { max: 4_096 }),
      requestedAtMs: timeMs('When it was requested.'),
    }),
  ),
  devices: list(
    'Devices with a current or recent session of the owner.',
    object('A device.', {
      device: optional(text('The browser’s user agent.', { max: 512 })),
      address: text('The IP address.', { max: 64 }),
      signedInAtMs: timeMs('Time of sign-in.'),
      lastSeenAtMs: timeMs('When it was last seen.'),
    }),
  ),
  passkeys: list(
    'Oldest first.',
    object('A passkey.', {
      name: text('The name chosen by the owner.', { max: 60 }),
      addedAtMs: timeMs('When it was added.'),
      lastUsedAtMs: optional(timeMs('When it was last used.')),
    }),
  ),
  acts: list(
    'Operators’ actions on the wallet, oldest first.',
    object('An action.', {
      actedAtMs: timeMs('The time.'),
      act: text('The action.', { max: 64 }),
      reason: optional(text('The reason.', { max: 1024 })),
    }),
  ),
})
const page = '/wallets/:walletId'

export const walletActions: readonly Action[] = [
  defineAction({
    name: 'wallet.list',
    scope: 'wallets:read',
    summary: 'List wallets, newest first',
    input: object('Which wallets.', {
      search: optional(text('A walletId, or the start of a login, name or last name.', { max: 64 })),
      before: optional(described('Only wallets older than this one.', walletId)),
      limit,
    }),
    answer: object('A page.', {
      wallets: list('Newest first.', object('A wallet.', wallet)),
      older: optional(text(nextPage, { max: 64 })),
    }),
    command: { columns: ['walletId', 'login', 'name', 'status'] },
    run: ({ operations, context, input }) =>
      pageOf('wallets', input, {
        read: (at) => operations.wallets.listWallets(context, input.search, at.limit, at.before),
        keyOf: (each) => each.walletId,
      }),
  }),
  defineAction({
    name: 'wallet.add',
    scope: 'wallets:manage',
    summary: 'Create a wallet. The PIN is shown only once',
    input: object('The wallet.', {
      login: text('Phone number with country code, or email address.', { max: 320 }),
      name,
      pin: optional(
        displayed(text('6 to 12 digits; generated if omitted.', { max: 12 }), {
          option: 'pin-file',
          kind: 'long',
          only: 'command',
        }),
      ),
      reason,
    }),
    answer: object('The wallet.', {
      wallet: object('The wallet.', wallet),
      pin: text('Shown only once. Give it to the consumer.', { max: 12 }),
    }),
    form: {
      place: 'wallets',
      path: '/wallets',
      page: '/wallets',
      label: 'Create a wallet…',
      explains: 'The PIN is generated and shown only once. Give it to the consumer.',
      button: 'Create wallet',
    },
    async run({ operations, context, input }) {
      const { wallet: made, pin } = await operations.wallets.addWallet(context, input)
      // Safe: only the command line generates a PIN, and it is present then.
      return { wallet: made, pin: pin as string }
    },
    reply: ({ wallet: { walletId: id, login, name: called }, pin }, { input }) => ({
      text: `The wallet of ${called} was created.`,
      ...(input.pin === undefined && { secrets: [['PIN, for the consumer', pin]] }),
      page: `/wallets/${id}`,
      next: `wallet top-up ${login} --amount 100 --currency USD --reason TEXT`,
    }),
  }),
  defineAction({
    name: 'wallet.show',
    scope: 'wallets:read',
    summary: 'Show a wallet with its balances',
    params: key,
    answer: shownWallet,
    run: async ({ operations, context, params }) =>
      toShown(await operations.wallets.showWallet(context, params.walletId)),
  }),
  defineAction({
    name: 'wallet.set-limits',
    scope: 'wallets:manage',
    summary: 'Set a wallet’s limits per payment, per day and for its balance, in one currency',
    params: key,
    input: object('The limits. Omitted limits are reset to the gateway’s default.', {
      currency,
      payment: optional(displayed(amount('Maximum per payment.'), { placeholder: '500.00' })),
      day: optional(displayed(amount('Maximum per day (UTC).'), { placeholder: '1000.00' })),
      balance: optional(
        displayed(amount('Maximum balance after a top-up.'), {
          placeholder: '2500.00',
          label: 'Maximum balance',
        }),
      ),
      whole: shownWhole('All limits'),
      reason,
    }),
    checks: {
      currency: ({ currency: code }) => void digitsOf(String(code)),
      payment: (given) => void limitOf(given, 'payment'),
      day: (given) => void limitOf(given, 'day'),
      balance: (given) => void limitOf(given, 'balance'),
    },
    answer: shownWallet,
    form: {
      place: 'wallet',
      path: `${page}/limits`,
      page,
      label: 'Limits…',
      explains:
        'Limits in one currency. Empty fields are reset to the gateway’s default. The limits apply to the next payment.',
      button: 'Set limits',
    },
    pin: async (call) => ({
      ...(await pinWallet(call)),
      whole: describeLimits(limitsGiven(call.input), call.input.currency),
    }),
    async run({ operations, context, params, input }) {
      const { currency: code, reason: why } = input
      const limits = { ...limitsGiven(input), currency: code, reason: why }
      return toShown(await operations.wallets.setLimits(context, params.walletId, limits))
    },
    reply: (_answer, { input }) => ({ text: `The limits in ${input.currency} are set.` }),
  }),
  defineAction({
    name: 'wallet.export',
    scope: 'wallets:manage',
    summary: 'Export everything stored about a consumer, for a data protection request',
    params: key,
    input: object('The reason.', { reason }),
    answer: exported,
    command: {
      columns: ['paymentId', 'merchantName', 'amount', 'status', 'createdAtMs'],
      help: '--json prints the complete data for the consumer. The export reads all orders, so it may take a while.',
    },
    async run({ operations, context, params, input }) {
      const found = await operations.wallets.exportWallet(context, params.walletId, input.reason)
      return {
        ...toShown(found),
        payments: found.payments.map((each) => ({
          ...each,
          amount: toDecimalText(each.amountMinor, each.currency),
          refunded: toDecimalText(each.refundedMinor, each.currency),
          order: each.content,
        })),
        movements: found.movements.map((each) => ({
          ...each,
          amount: toDecimalText(each.amountMinor, each.currency),
        })),
        withdrawals: found.withdrawals.map((each) => ({
          ...each,
          amount: toDecimalText(each.amountMinor, each.currency),
        })),
        devices: found.devices,
        passkeys: found.passkeys,
        acts: found.acts,
      }
    },
  }),
  ...(['lock', 'unlock'] as const).map((verb) =>
    defineAction({
      name: `wallet.${verb}`,
      scope: 'wallets:act',
      summary:
        verb === 'lock'
          ? 'Lock a wallet: block sign-in and payments'
          : 'Unlock a wallet, including one locked by wrong PINs',
      params: key,
      input: object('The reason.', { reason }),
      answer: object('The wallet.', wallet),
      form: form<Wallet>({
        place: 'wallet',
        page,
        label: verb === 'lock' ? 'Lock…' : 'Unlock…',
        explains:
          verb === 'lock'
            ? 'The consumer cannot sign in or pay until the wallet is unlocked. The balance is kept, and refunds are still credited.'
            : 'The consumer can sign in and pay again. The count of wrong PINs is reset.',
        button: verb === 'lock' ? 'Lock wallet' : 'Unlock wallet',
        ...(verb === 'lock' && { isDangerous: true }),
        isOffered: (of, { nowMs }) => isWalletShut(of, nowMs) === (verb === 'unlock'),
      }),
      pin: pinWallet,
      run: async ({ operations, context, params, input }) =>
        operations.wallets[`${verb}Wallet`](context, params.walletId, input.reason),
      reply: ({ status }) => ({ text: `The wallet is ${status}.` }),
    }),
  ),
  defineAction({
    name: 'wallet.reset-pin',
    scope: 'wallets:manage',
    summary: 'Create a one-time code for a new PIN, sent to the confirmed email address if there is one',
    params: key,
    input: object('The reason.', { reason }),
    answer: object('The code, or the address that it was sent to.', {
      isShownToOperator: yesNo('False: the code was sent to the consumer’s confirmed email address.'),
      code: optional(
        text('Shown only once. Absent if an email was sent. Give it to the consumer.', { max: 12 }),
      ),
      sentTo: optional(text('The address that the code was sent to.', { max: 320 })),
      expiresAtMs: timeMs('When the code expires.'),
    }),
    form: {
      place: 'wallet',
      page,
      label: 'Reset the PIN…',
      explains:
        'First confirm that the request comes from the wallet’s owner: the code sets a new PIN. The code is sent to the consumer’s confirmed email address if a mail server is configured; otherwise it is shown here once. It is valid for 15 minutes and five attempts, and the old PIN works until the code is used. The count of wrong PINs is reset.',
      button: 'Create code',
      isDangerous: true,
      needsConfirmation: true,
    },
    pin: pinWallet,
    run: ({ operations, context, params, input }) =>
      operations.wallets.resetPin(context, params.walletId, input.reason),
    reply: ({ code, sentTo }, { params }) => ({
      text:
        (sentTo === undefined ? '' : `The code was sent to ${sentTo}. `) +
        'The code is valid for 15 minutes. The consumer enters it on any checkout, under “Forgot your PIN?”.',
      ...(code !== undefined && { secrets: [['One-time code, for the consumer', code]] as const }),
      page: `/wallets/${params.walletId}`,
    }),
  }),
  defineAction({
    name: 'wallet.top-up',
    scope: 'money:move',
    summary: 'Top up a wallet from one of the operator’s bank accounts',
    params: key,
    input: object('The amount.', outsideMoney),
    checks: outsideChecks,
    answer: object('The result.', doneBefore),
    isOnce: true,
    form: {
      place: 'wallet',
      page,
      label: 'Top up…',
      explains: 'Transfers money from one of the operator’s bank accounts to this wallet.',
      button: 'Top up',
    },
    pin: pinWallet,
    async run({ operations, context, params, input, idempotencyKey }) {
      const { wallets, funds } = operations
      const doneBeforeMs =
        idempotencyKey === undefined ? undefined : await funds.doneAt(context, idempotencyKey)
      await wallets.topUp(context, { wallet: params.walletId, ...outsideMoneyOf(input), idempotencyKey })
      return { doneBeforeMs }
    },
    reply: (answer, { input }) =>
      replyDoneBefore(answer) ?? { text: `${input.amount} ${input.currency} were added to the wallet.` },
  }),
]

function limitsGiven(given: Readonly<Record<string, unknown>>): Limits {
  return {
    paymentMinor: limitOf(given, 'payment'),
    dayMinor: limitOf(given, 'day'),
    balanceMinor: limitOf(given, 'balance'),
  }
}

function limitOf(
  given: Readonly<Record<string, unknown>>,
  field: 'payment' | 'day' | 'balance',
): bigint | undefined {
  const { [field]: written, currency: code } = given
  if (written === undefined || !isCurrencyCode(String(code))) return undefined
  return toMinorUnits(String(written), String(code), field)
}

/** As shown to people. */
export function writtenLimits(limits: Limits, code: string) {
  const written = (minor: bigint | undefined) =>
    minor === undefined ? undefined : toDecimalText(minor, code)
  return {
    payment: written(limits.paymentMinor),
    day: written(limits.dayMinor),
    balance: written(limits.balanceMinor),
  }
}

function toShown({ wallet: shown, balances: accounts, limits }: ShownWallet) {
  return {
    ...shown,
    balances: accounts.map(toBalance),
    limits: limits.map((each) => ({ currency: each.currency, ...writtenLimits(each, each.currency) })),
  }
}
