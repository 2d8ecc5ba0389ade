// Single payouts: list, show, and record the bank's result.
import type { Ending } from '../../finance/payouts/rules/end-payout.ts'
import { nextStatuses, type Payout, payoutStatuses } from '../../finance/payouts/rules/payout.ts'
import { type Action, defineAction, form } from '../action.ts'
import { described, list, object, oneOf, optional } from '../fields.ts'
import { limit, merchantId, pageOf, reason } from '../shared-fields.ts'
import { booking, bookingChecks, payout, payoutId, runId, toPayout } from './payout-fields.ts'

const payoutKey = object('Which payout.', { merchantId, payoutId })

const lists: readonly Action[] = [
  defineAction({
    name: 'payout.list',
    scope: 'payouts:read',
    summary: 'List payouts, newest first',
    input: object('Which payouts.', {
      merchantId: optional(merchantId),
      runId: optional(runId),
      status: optional(oneOf('Only with this status.', payoutStatuses)),
      before: optional(described('Only payouts older than this one.', payoutId)),
      limit,
    }),
    answer: object('A page.', { payouts: list('Newest first.', payout), older: optional(payoutId) }),
    command: {
      columns: ['payoutId', 'merchantId', 'status', 'amount', 'currency', 'runId'],
    },
    async run({ operations, context, input: { before, limit: atMost, ...filter } }) {
      const { payouts, older } = await pageOf(
        'payouts',
        { before, limit: atMost },
        {
          read: (at) => operations.payouts.listPayouts(context, filter, at),
          keyOf: (each) => each.payoutId,
        },
      )
      return { payouts: payouts.map(toPayout), older }
    },
  }),
  defineAction({
    name: 'payout.show',
    scope: 'payouts:read',
    summary: 'Show a payout',
    params: payoutKey,
    answer: payout,
    run: async ({ operations, context, params }) =>
      toPayout(await operations.payouts.findPayout(context, params)),
  }),
]

const endings = {
  paid: {
    status: 'paid',
    summary: 'Mark a payout as paid by the bank',
    label: 'Mark as paid…',
    explains: 'The bank has executed the payout, and the money has left the account.',
    button: 'Mark as paid',
  },
  return: {
    status: 'returned',
    summary: 'Mark a payout as returned and credit the merchant',
    label: 'Mark as returned…',
    explains:
      'The bank returned the payout, and the money is back in the merchant’s balance. Enter the bank’s booking of the return.',
    button: 'Mark as returned',
  },
} as const

const payoutActionsOfBank = (['paid', 'return'] as const).map((verb) =>
  defineAction({
    name: `payout.${verb}`,
    scope: 'money:move',
    summary: endings[verb].summary,
    params: payoutKey,
    input: object('The bank’s booking.', { ...booking, reason }),
    checks: bookingChecks,
    answer: payout,
    form: form<Payout>({
      place: 'payout',
      page: '/merchants/:merchantId/payouts/:payoutId',
      label: endings[verb].label,
      explains: endings[verb].explains,
      button: endings[verb].button,
      isOffered: isPossible(endings[verb].status),
    }),
    run: async ({ operations, context, params, input: { reason: why, ...outside } }) =>
      toPayout(
        await operations.payouts.endPayout(
          context,
          params,
          { status: endings[verb].status, outside, message: verb === 'return' ? why : undefined },
          why,
        ),
      ),
    reply: ({ payoutId: id, status }) => ({ text: `Payout ${id} is ${status}.` }),
  }),
)

const cancelPayout = defineAction({
  name: 'payout.cancel',
  scope: 'money:move',
  summary: 'Cancel a payout and release its money',
  params: payoutKey,
  input: object('The reason.', { reason }),
  answer: payout,
  form: form<Payout>({
    place: 'payout',
    page: '/merchants/:merchantId/payouts/:payoutId',
    label: 'Cancel…',
    explains: ({ status }) =>
      status === 'requested'
        ? 'The payout is not sent to the bank, and its money returns to the merchant.'
        : 'The payout is in the file that was sent, so cancel it only if the bank rejected it. The money returns to the merchant.',
    button: 'Cancel payout',
    isDangerous: true,
    isOffered: isPossible('cancelled'),
  }),
  run: async ({ operations, context, params, input }) =>
    toPayout(
      await operations.payouts.endPayout(
        context,
        params,
        { status: 'cancelled', outside: undefined, message: input.reason },
        input.reason,
      ),
    ),
  reply: ({ payoutId: id }) => ({
    text: `Payout ${id} is cancelled, and its money was returned to the merchant.`,
  }),
})

export const payoutActions: readonly Action[] = [...lists, ...payoutActionsOfBank, cancelPayout]

function isPossible(to: Ending['status']) {
  return ({ status }: Payout): boolean => (nextStatuses[status] as readonly string[]).includes(to)
}
