// Payout runs: list, start manually, send to the bank as a file, and record the bank's result.
import type { RunWithTotals } from '../../finance/payouts/manage-runs.ts'
import type { PayoutRun } from '../../finance/payouts/rules/payout.ts'
import { mainBank } from '../../finance/treasury/rules/bank-account.ts'
import { type Action, defineAction, form } from '../action.ts'
import { count, list, object, optional } from '../fields.ts'
import { currency, limit, moneyChecks, outsideMoney, pageOf, reason } from '../shared-fields.ts'
import { booking, bookingChecks, run, runId, runWithTotals, toRun, toRunWithTotals } from './payout-fields.ts'

const runKey = object('Which run.', { runId })
const runsPage = '/payouts'
const runPage = `${runsPage}/:runId`

export const payoutRunActions: readonly Action[] = [
  defineAction({
    name: 'payout-run.list',
    scope: 'payouts:read',
    summary: 'List payout runs, newest first',
    input: object('Which page.', { before: optional(runId), limit }),
    answer: object('A page.', { runs: list('The newest first.', run), older: optional(runId) }),
    command: {
      columns: ['runId', 'day', 'bank', 'currency', 'closedAtMs', 'sentAtMs', 'ending'],
    },
    async run({ operations, context, input }) {
      const { runs, older } = await pageOf('runs', input, {
        read: (at) => operations.payoutRuns.listRuns(context, at),
        keyOf: (each) => each.runId,
      })
      return { runs: runs.map(toRun), older }
    },
  }),
  defineAction({
    name: 'payout-run.show',
    scope: 'payouts:read',
    summary: 'Show a run and the state of its payouts',
    params: runKey,
    answer: runWithTotals,
    command: { columns: ['status', 'payouts', 'sum'] },
    run: async ({ operations, context, params }) =>
      toRunWithTotals(await operations.payoutRuns.showRun(context, params.runId)),
  }),
  ...(['xml', 'csv'] as const).map((format) =>
    defineAction({
      name: `payout-run.export-${format}`,
      scope: 'payouts:read',
      summary:
        format === 'xml'
          ? 'Export a sent run as a payment file for the bank (ISO 20022 pain.001.001.09)'
          : 'Export a sent run as CSV',
      params: runKey,
      answer: format,
      run: ({ operations, context, params }) =>
        operations.payoutRuns.exportRun(context, params.runId, format),
    }),
  ),
  defineAction({
    name: 'payout-run.start',
    scope: 'money:move',
    summary: 'Pay out every merchant with a manual schedule',
    input: object('Which of them.', { currency, bank: outsideMoney.bank, reason }),
    checks: { currency: moneyChecks.currency },
    answer: object('It is started; workers make the payouts.', { plans: count('So many plans are due.') }),
    form: {
      place: 'payout-runs',
      path: runsPage,
      page: runsPage,
      label: 'Start a run by hand…',
      explains:
        'Every merchant whose plan is by hand, in this currency and from this bank account, is paid out as its plan says, once a day at most. Nothing goes to the bank before you send the run.',
      button: 'Start the run',
    },
    run: async ({ operations, context, input }) => ({
      plans: await operations.payoutPlans.startRun(
        context,
        input.bank ?? mainBank,
        input.currency,
        input.reason,
      ),
    }),
    tell: ({ plans }) => ({
      text:
        plans === 1
          ? '1 plan is due now. Its payout appears in a run in a moment.'
          : `${plans} plans are due now. Their payouts appear in a run in a moment.`,
    }),
  }),
  defineAction({
    name: 'payout-run.send',
    scope: 'money:move',
    summary: 'Send a run: its payouts and its file become final',
    params: runKey,
    input: object('Why.', { reason }),
    answer: runWithTotals,
    form: form<PayoutRun & Pick<RunWithTotals, 'totals'>>({
      place: 'payout-run',
      page: runPage,
      label: 'Send…',
      explains:
        'The file for the bank is made, and stays the same from then on. Payouts that you do not want are cancelled before.',
      button: 'Send the run',
      isOffered: ({ closedAtMs, sentAtMs, ending, totals }) =>
        closedAtMs !== undefined &&
        sentAtMs === undefined &&
        ending === undefined &&
        totals.some(({ status }) => status === 'requested'),
    }),
    run: async ({ operations, context, params, input }) =>
      toRunWithTotals(await operations.payoutRuns.sendRun(context, params.runId, input.reason)),
    tell: () => ({ text: 'The run is sent: download its file and hand it to the bank.' }),
  }),
  defineAction({
    name: 'payout-run.paid',
    scope: 'money:move',
    summary: 'Mark a run as paid by the bank',
    params: runKey,
    input: object('What the bank says.', { ...booking, reason }),
    checks: bookingChecks,
    answer: runWithTotals,
    form: form<PayoutRun>({
      place: 'payout-run',
      page: runPage,
      label: 'The bank paid it…',
      explains: 'Every payout of the run that is sent becomes paid. Note those that came back one by one.',
      button: 'All is paid',
      isOffered: ({ sentAtMs, ending }) => sentAtMs !== undefined && ending === undefined,
    }),
    run: async ({ operations, context, params, input: { reason: why, ...booked } }) =>
      toRunWithTotals(
        await operations.payoutRuns.endRun(
          context,
          params.runId,
          { ending: 'paid', ...booked, message: undefined },
          why,
        ),
      ),
    tell: () => ({ text: 'The run is paid. Its payouts follow in a moment.' }),
  }),
  defineAction({
    name: 'payout-run.cancel',
    scope: 'money:move',
    summary: 'Cancel a run and release its money',
    params: runKey,
    input: object('Why.', { reason }),
    answer: runWithTotals,
    form: form<PayoutRun>({
      place: 'payout-run',
      page: runPage,
      label: 'Cancel…',
      explains: ({ sentAtMs }) =>
        sentAtMs === undefined
          ? 'Nothing goes to the bank, and the money is the merchants’ again.'
          : 'Only if the bank refused the whole file: otherwise merchants are paid twice. The money is theirs again.',
      button: 'Cancel the run',
      isDangerous: true,
      isOffered: ({ closedAtMs, ending }) => closedAtMs !== undefined && ending === undefined,
    }),
    run: async ({ operations, context, params, input }) =>
      toRunWithTotals(
        await operations.payoutRuns.endRun(
          context,
          params.runId,
          { ending: 'cancelled', message: input.reason, reference: undefined, valueDate: undefined },
          input.reason,
        ),
      ),
    tell: () => ({ text: 'The run is cancelled. Its payouts follow in a moment.' }),
  }),
]
