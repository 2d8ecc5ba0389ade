// Disputes: listed for operators, and answered by the merchant's members or an operator for them.
import {
  disputeIdPattern,
  disputeReasons,
  Failure,
  maxEvidenceFileBytes,
  toDecimalText,
} from '@tillgate/protocol'
import type { Dispute } from '../../finance/rails/disputes/rules/dispute.ts'
import { type Action, defineAction, defineSharedAction } from '../action.ts'
import {
  amount,
  described,
  displayed,
  list,
  longText,
  matching,
  object,
  oneOf,
  optional,
  text,
  timeMs,
} from '../fields.ts'
import { byMerchant, currency, limit, merchantId, nextPage, pageOf, reason } from '../shared-fields.ts'

const disputeId = matching('The dispute.', { regexp: disputeIdPattern, expected: 'a dispute’s ID' })
const states = ['open', 'won', 'lost'] as const
const dispute = {
  merchantId,
  disputeId,
  railId: text('The rail.', { max: 32 }),
  reference: text('The rail’s number.', { max: 36 }),
  paymentId: text('The disputed payment.', { max: 32 }),
  status: oneOf('`open`: the amount is withheld.', [...states]),
  amount: amount('The disputed amount.'),
  fee: amount('What the provider charges for it.'),
  currency,
  reason: oneOf('Why the consumer disputes the payment.', Object.keys(disputeReasons)),
  respondByMs: optional(timeMs('Until when the merchant can respond.')),
  openedAtMs: timeMs('When the gateway learned of the dispute.'),
  closedAtMs: optional(timeMs('When the dispute was won or lost.')),
}
const key = object('Which dispute.', { merchantId, disputeId })
const answer = object('The dispute.', dispute)

export const disputeActions: readonly Action[] = [
  defineAction({
    name: 'dispute.list',
    command: false,
    scope: 'orders:read',
    summary: 'List disputes, newest first',
    input: object('Which disputes.', {
      merchantId: optional(merchantId),
      state: optional(oneOf('Only open or ended ones.', ['open', 'ended'])),
      before: optional(described('Only disputes older than this one.', disputeId)),
      limit,
    }),
    answer: object('Disputes.', {
      disputes: list('Newest first.', answer),
      older: optional(text(nextPage, { max: 32 })),
    }),
    async run({ operations, context, input }) {
      const { state, merchantId: of } = input
      const { disputes, older } = await pageOf('disputes', input, {
        read: (page) =>
          operations.disputes.listDisputes(context, {
            ...page,
            merchantId: of,
            isOpen: state && state === 'open',
          }),
        keyOf: (each) => each.disputeId,
      })
      return { disputes: disputes.map(withAmounts), older }
    },
  }),
  defineSharedAction({
    name: 'dispute.accept',
    command: false,
    scope: 'orders:act',
    summary: 'Accept a dispute: the consumer keeps the money',
    params: key,
    input: object('Why.', { reason }),
    answer,
    portal: [
      {
        roles: ['owner', 'finance'],
        name: 'acceptDispute',
        path: '/disputes/:disputeId/accept',
        page: '/disputes/:disputeId',
        fixed: { reason: byMerchant },
        isDangerous: true,
      },
    ],
    run: async ({ operations, context, params, input }) =>
      withAmounts(await operations.disputes.acceptDispute(context, params, input.reason)),
  }),
  defineSharedAction({
    name: 'dispute.evidence',
    command: false,
    scope: 'orders:act',
    summary: 'Send evidence to the provider through the rail, once for each dispute',
    params: key,
    input: object('The evidence.', {
      statement: displayed(longText('What the provider should know.', { max: 3_000 }), { kind: 'long' }),
      document: optional(
        displayed(
          longText(`PDF, JPEG or PNG of at most ${maxEvidenceFileBytes / 2 ** 20} MiB, in base64.`, {
            max: Math.ceil(maxEvidenceFileBytes / 3) * 4,
          }),
          { kind: 'document' },
        ),
      ),
    }),
    answer,
    portal: [
      {
        roles: ['owner', 'finance'],
        name: 'disputeEvidence',
        path: '/disputes/:disputeId/evidence',
        page: '/disputes/:disputeId',
      },
    ],
    pin: async ({ input }) => {
      if (input.document === undefined) return {}
      throw new Failure('not_allowed', {
        message:
          'When an operator sends evidence, a second operator must approve, and a request for approval cannot include a document. Send the statement alone, or let a member of the merchant respond.',
      })
    },
    run: async ({ operations, context, params, input: { statement, document } }) =>
      withAmounts(
        await operations.disputes.sendEvidence(context, params, {
          text: statement,
          file: document === undefined ? undefined : Buffer.from(document, 'base64'),
        }),
      ),
  }),
]

function withAmounts(of: Dispute) {
  return {
    ...of,
    amount: toDecimalText(of.amountMinor, of.currency),
    fee: toDecimalText(of.feeMinor, of.currency),
  }
}
