// Corrections: transfers by an operator that put the books right. Each names the transfer that it corrects, if any, and
// may need a second operator.
import { Failure, toDecimalText, toPositiveMinorUnits } from '@tillgate/protocol'
import type { Static, TObject } from 'typebox'
import { placeOf, transferPlacePattern, writtenPlace } from '../../core/ledger/rules/transfer-place.ts'
import { type Correctable, type Correction, releaseTargets } from '../../finance/treasury/rules/correction.ts'
import type { RecordedCorrection } from '../../finance/treasury/store/corrections.ts'
import { type Action, type ActionCall, defineAction } from '../action.ts'
import { pinWallet } from '../consumers/pin-wallet.ts'
import { amount, displayed, list, matching, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { doneBefore, replyDoneBefore } from '../running/done-before.ts'
import {
  currency,
  limit,
  merchantId,
  nextPage,
  outsideChecks,
  outsideMoney,
  outsideMoneyOf,
  outsideOf,
  pageOf,
  reason,
  shownWhole,
} from '../shared-fields.ts'

const transferPattern = { regexp: /^[0-9A-Za-z]{1,30}$/, expected: 'a transferId' }
const place = (description: string) =>
  matching(description, { regexp: transferPlacePattern, expected: '`older` of the previous page' })
const corrects = optional(
  displayed(matching('The corrected transfer, if there is one.', transferPattern), {
    option: 'corrects',
    label: 'Corrected transfer (optional)',
  }),
)
const corrected = {
  transferId: displayed(matching('The corrected transfer.', transferPattern), {
    option: 'transfer',
    label: 'Corrected transfer',
  }),
  merchantId: optional(
    displayed(merchantId, {
      option: 'merchant',
      label: 'Merchant of that transfer (not for a top-up)',
    }),
  ),
  amount: optional(
    displayed(amount('The amount; by default, the remaining amount.'), { placeholder: '12.50' }),
  ),
  whole: shownWhole('What is corrected'),
}
const { bank, reference, valueDate } = outsideMoney
const marks = { reference, valueDate }
const markChecks = { valueDate: outsideChecks.valueDate }
const answer = object('The result.', doneBefore)

/** A row of the list of money in suspense. */
interface SuspenseMoney {
  /** Undefined unless the money is late. */
  readonly merchantId: string | undefined
  readonly partyIban: string | undefined
}

const ofSuspense = { place: 'suspense', page: '/money/corrections', hidden: ['transferId', 'merchantId'] }

export const correctionActions: readonly Action[] = [
  defineAction({
    name: 'correction.list',
    scope: 'ledger:read',
    summary: 'List corrections, newest first',
    input: object('Which page.', {
      before: optional(
        displayed(place('Only corrections older than this one: `older` of the previous page.'), {
          option: 'page',
        }),
      ),
      beforeMs: optional(timeMs('Only older corrections.')),
      limit,
    }),
    answer: object('Corrections.', {
      corrections: list(
        'Newest first.',
        object('A correction.', {
          transferId: text('The correction’s own transfer.', { max: 30 }),
          act: text('The kind of correction.', { max: 64 }),
          corrects: optional(text('The corrected transfer.', { max: 30 })),
          merchantId: optional(merchantId),
          from: text('The debit account.', { max: 128 }),
          to: text('The credit account.', { max: 128 }),
          amount: amount('The amount.'),
          currency,
          reference: optional(text('The bank’s reference.', { max: 140 })),
          valueDate: optional(text('The bank’s value date.', { max: 10 })),
          actor: text('The actor and their address.', { max: 512 }),
          reason: optional(text('The reason.', { min: 0, max: 65_536 })),
          madeAtMs: timeMs('The time.'),
        }),
      ),
      older: optional(place(nextPage)),
    }),
    command: {
      columns: ['transferId', 'act', 'corrects', 'amount', 'currency', 'reason'],
    },
    async run({ operations, context, input: { before, beforeMs, limit: atMost } }) {
      // No id of that millisecond sorts after the empty one.
      const from = beforeMs === undefined ? undefined : { madeAtMs: beforeMs, transferId: '' }
      const { corrections, older } = await pageOf(
        'corrections',
        { before, limit: atMost },
        {
          read: (page) =>
            operations.corrections.listCorrections(context, {
              before: page.before === undefined ? from : placeOf(page.before),
              limit: page.limit,
            }),
          keyOf: writtenPlace,
        },
      )
      return { corrections: corrections.map(toAnswer), older }
    },
  }),
  defineAction({
    name: 'correction.fund',
    scope: 'money:move',
    summary: 'Fund a merchant from a bank account, for refunds',
    params: object('Which merchant.', { merchantId }),
    input: object('The amount.', { ...outsideMoney, transferId: corrects }),
    checks: outsideChecks,
    answer,
    isOnce: true,
    form: {
      place: 'merchant.money',
      path: '/merchants/:merchantId/fund',
      page: '/merchants/:merchantId/money',
      label: 'Fund…',
      explains:
        'Transfers money from one of the operator’s bank accounts to the merchant’s balance. If this makes up for a payout, enter that payout. The amount cannot exceed it.',
      button: 'Fund merchant',
    },
    async run(call) {
      const { operations, context, params, input } = call
      await operations.merchants.showMerchant(context, params.merchantId)
      return correct(call, async () => ({
        kind: 'fund',
        merchantId: params.merchantId,
        ...outsideMoneyOf(input),
        corrects: input.transferId,
      }))
    },
    reply: (result, { input }) =>
      replyDoneBefore(result) ?? {
        text: `${input.amount} ${input.currency} were added to the merchant’s balance.`,
      },
  }),
  defineAction({
    name: 'correction.withdraw',
    scope: 'money:move',
    summary: 'Withdraw money from a wallet to one of the operator’s bank accounts',
    params: object('Which wallet.', {
      walletId: displayed(text('The wallet’s ID.', { max: 64 }), { option: 'wallet' }),
    }),
    input: object('The amount.', { ...outsideMoney, transferId: corrects }),
    checks: outsideChecks,
    answer,
    isOnce: true,
    form: {
      place: 'wallet',
      page: '/wallets/:walletId',
      label: 'Withdraw…',
      explains:
        'Transfers money from the wallet to one of the operator’s bank accounts, from which you send it to the consumer. To undo a top-up, enter that top-up.',
      button: 'Withdraw',
      isDangerous: true,
    },
    pin: pinWallet,
    async run(call) {
      const { operations, context, params, input } = call
      const { walletId } = (await operations.wallets.showWallet(context, params.walletId)).wallet
      return correct(call, async () => ({
        kind: 'withdraw',
        walletId,
        ...outsideMoneyOf(input),
        corrects: input.transferId,
      }))
    },
    reply: (result, { input }) =>
      replyDoneBefore(result) ?? {
        text: `${input.amount} ${input.currency} were withdrawn from the wallet.`,
      },
  }),
  defineAction({
    name: 'correction.reverse',
    scope: 'money:move',
    summary: 'Reverse a top-up, a payout or a correction, fully or in part',
    input: object('The input.', { ...corrected, ...marks, reason }),
    checks: markChecks,
    answer,
    isOnce: true,
    form: {
      place: 'corrections',
      page: '/money/corrections',
      label: 'Reverse a transfer…',
      explains:
        'The money returns the way it came, through the same bank account. The original transfer does not change.',
      button: 'Reverse transfer',
      isDangerous: true,
    },
    pin: pinCorrected,
    run: (call) => correct(call, async () => ({ kind: 'reverse', ...(await correctedOf(call)) })),
    reply: (result) => replyDoneBefore(result) ?? { text: 'The transfer was reversed.' },
  }),
  defineAction({
    name: 'correction.release',
    scope: 'money:move',
    summary: 'Release late or unknown money from suspense to the merchant, a wallet or a bank account',
    input: object('The money and its destination.', {
      ...corrected,
      transferId: displayed(corrected.transferId, { suggests: 'parked' }),
      to: displayed(oneOf('The recipient.', releaseTargets), {
        choices: [
          ['merchant', 'the merchant of the order'],
          ['wallet', 'a wallet'],
          ['bank', 'a bank account, for a return transfer'],
        ],
      }),
      walletId: optional(
        displayed(text('The wallet’s ID or login.', { max: 320 }), {
          option: 'wallet',
          label: 'Wallet ID or login',
        }),
      ),
      bank,
      ...marks,
      reason,
    }),
    checks: markChecks,
    answer,
    isOnce: true,
    forms: [
      {
        ...ofSuspense,
        path: '/money/corrections/release-to-merchant',
        label: 'To the merchant…',
        explains: 'The money moves from suspense to the merchant of the order. The order keeps its status.',
        button: 'Release to the merchant',
        fields: ['amount', 'reason'],
        fixed: { to: 'merchant' },
        isOffered: ({ merchantId: of }: SuspenseMoney) => of !== undefined,
      },
      {
        ...ofSuspense,
        path: '/money/corrections/send-back',
        label: 'Send back…',
        explains: ({ partyIban }: SuspenseMoney) =>
          `The money leaves suspense through your bank account. Then make the bank transfer${partyIban === undefined ? '' : ` to ${partyIban}`}.`,
        button: 'Send back',
        fields: ['amount', 'bank', 'reference', 'reason'],
        fixed: { to: 'bank' },
      },
      {
        place: 'corrections',
        path: '/money/corrections/release',
        page: '/money/corrections',
        label: 'Release to a wallet…',
        explains:
          'Moves money from suspense to a wallet. For late money of an order, also enter the merchant. To release it to the merchant or to send it back, use the list of money in suspense.',
        button: 'Release',
        fields: ['transferId', 'merchantId', 'amount', 'walletId', 'reason'],
        fixed: { to: 'wallet' },
        required: ['walletId'],
      },
    ],
    pin: async (call) => {
      const { walletId } = call.input
      const wallet = walletId === undefined ? {} : await pinWallet({ ...call, params: { walletId } })
      return { ...(await pinCorrected(call)), ...wallet }
    },
    async run(call) {
      const { operations, context, input } = call
      const wallet =
        input.walletId === undefined
          ? undefined
          : (await operations.wallets.showWallet(context, input.walletId)).wallet
      return correct(call, async () => ({
        kind: 'release',
        to: input.to,
        walletId: wallet?.walletId,
        ...(await correctedOf(call)),
      }))
    },
    reply: (result) => replyDoneBefore(result) ?? { text: 'The money was released.' },
  }),
  defineAction({
    name: 'correction.write-off',
    scope: 'money:move',
    summary: 'Write off a top-up that never arrived, or money that was late or has no known owner',
    input: object('The input.', { ...corrected, ...marks, reason }),
    checks: markChecks,
    answer,
    isOnce: true,
    forms: [
      {
        ...ofSuspense,
        path: '/money/corrections/keep',
        label: 'Write off…',
        explains: 'The money cannot be returned, so it leaves suspense and is booked as your gain.',
        button: 'Write off',
        fields: ['amount', 'reason'],
        isDangerous: true,
      },
      {
        place: 'corrections',
        path: '/money/corrections/write-off',
        page: '/money/corrections',
        label: 'Write off a top-up…',
        explains:
          'For a top-up that the consumer spent, but whose money never arrived at the bank. The bank account is corrected, and the loss is booked.',
        button: 'Write off',
        fields: ['transferId', 'amount', 'reference', 'valueDate', 'reason'],
        isDangerous: true,
      },
    ],
    pin: pinCorrected,
    run: (call) => correct(call, async () => ({ kind: 'write_off', ...(await correctedOf(call)) })),
    reply: (result) => replyDoneBefore(result) ?? { text: 'The amount was written off.' },
  }),
]

type CorrectedInput = Static<
  TObject<typeof corrected & typeof marks & { bank: typeof bank; reason: typeof reason }>
>

type CorrectedCall = Pick<ActionCall<unknown, CorrectedInput>, 'operations' | 'context' | 'input'>

/** A second operator sees the amount, also where it was left out, and the accounts of the transfer. */
async function pinCorrected(call: CorrectedCall) {
  const found = await findCorrected(call)
  const { currency: code, kind, debitAccountId: from, creditAccountId: to } = found
  const written = toDecimalText(amountOf(call.input.amount, found), code)
  const whole = `${written} ${code} of the ${kind.replaceAll('_', ' ')} from ${from} to ${to}`
  return { amount: written, whole }
}

/** What is corrected, and the amount: by default all that is left. */
async function correctedOf(call: CorrectedCall) {
  const { transferId: corrects, merchantId: of = '', amount: written } = call.input
  const found = await findCorrected(call)
  const { currency: code } = found
  const amountMinor = amountOf(written, found)
  return { merchantId: of, corrects, currency: code, amountMinor, outside: outsideOf(call.input) }
}

async function findCorrected({ operations, context, input }: CorrectedCall): Promise<Correctable> {
  const { transferId, merchantId: of = '' } = input
  const found = await operations.corrections.findCorrectable(context, { merchantId: of, transferId })
  if (found) return found
  throw new Failure('invalid_field', {
    field: 'transferId',
    message: `No transfer ${transferId} exists${of === '' ? ' without a merchant. Enter its merchant' : ` of merchant ${of}`}.`,
  })
}

function amountOf(written: string | undefined, found: Correctable): bigint {
  if (written !== undefined) return toPositiveMinorUnits(written, found.currency, 'amount')
  const left = found.amountMinor - found.correctedMinor
  if (left > 0n) return left
  throw new Failure('status_does_not_allow', {
    field: 'transferId',
    message: `Transfer ${found.transferId} was already corrected in full.`,
  })
}

/**
 * A repeat that is rejected because the first run succeeded gets the answer of the first run. The adapters check that a
 * repeated id has the same content.
 */
async function correct(
  {
    operations,
    context,
    input,
    idempotencyKey,
  }: Pick<ActionCall<unknown, { reason: string }>, 'operations' | 'context' | 'input' | 'idempotencyKey'>,
  makeCorrection: () => Promise<Correction>,
) {
  const { corrections, funds } = operations
  const doneBeforeMs = idempotencyKey === undefined ? undefined : await funds.doneAt(context, idempotencyKey)
  if (doneBeforeMs !== undefined) return { doneBeforeMs }
  await corrections.correct(context, await makeCorrection(), input.reason, { idempotencyKey })
  return {}
}

function toAnswer(correction: RecordedCorrection) {
  const { debitAccountId, creditAccountId, amountMinor, currency: code } = correction
  return {
    ...correction,
    from: debitAccountId,
    to: creditAccountId,
    amount: toDecimalText(amountMinor, code),
  }
}
