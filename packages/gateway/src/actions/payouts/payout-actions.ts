// Single payouts: list, show, and record the bank's result.
import type { Ending } from '../../finance/payouts/rules/end-payout.ts'
import { nextStatuses, type Payout, payoutStatuses } from '../../finance/payouts/rules/payout.ts'
import { type Action, defineAction, form } from '../action.ts'
import { list, object, oneOf, optional } from '../fields.ts'
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
      status: optional(oneOf('Of this status.', payoutStatuses)),
      before: optional(payoutId),
      limit,
    }),
    answer: object('A page.', { payouts: list('The newest first.', payout), older: optional(payoutId) }),
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
    label: 'Paid…',
    explains: 'The bank has paid it: the money has left.',
    button: 'It is paid',
  },
  return: {
    status: 'returned',
    summary: 'Mark a payout as returned and credit the merchant',
    label: 'Returned…',
    explains:
      'The bank sent it back: the money is in the merchant’s wallet again. Give the booking of the return.',
    button: 'It came back',
  },
} as const

const payoutActionsOfBank = (['paid', 'return'] as const).map((verb) =>
  defineAction({
    name: `payout.${verb}`,
    scope: 'money:move',
    summary: endings[verb].summary,
    params: payoutKey,
    input: object('What the bank says.', { ...booking, reason }),
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
    tell: ({ payoutId: id, status }) => ({ text: `Payout ${id} is ${status}.` }),
  }),
)

const cancelPayout = defineAction({
  name: 'payout.cancel',
  scope: 'money:move',
  summary: 'Cancel a payout and release its money',
  params: payoutKey,
  input: object('Why.', { reason }),
  answer: payout,
  form: form<Payout>({
    place: 'payout',
    page: '/merchants/:merchantId/payouts/:payoutId',
    label: 'Cancel…',
    explains: ({ status }) =>
      status === 'requested'
        ? 'It does not go to the bank, and the money is the merchant’s again.'
        : 'Only if the bank refused it: it is in the file. The money is the merchant’s again.',
    button: 'Cancel the payout',
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
  tell: ({ payoutId: id }) => ({ text: `Payout ${id} is cancelled, and the money is the merchant’s again.` }),
})

export const payoutActions: readonly Action[] = [...lists, ...payoutActionsOfBank, cancelPayout]

function isPossible(to: Ending['status']) {
  return ({ status }: Payout): boolean => (nextStatuses[status] as readonly string[]).includes(to)
}
