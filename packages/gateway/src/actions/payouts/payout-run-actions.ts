// Payout runs: list, start manually, send to the bank as a file, and record the bank's result.
import type { RunWithTotals } from '../../finance/payouts/manage-runs.ts'
import type { PayoutRun } from '../../finance/payouts/rules/payout.ts'
import { mainBank } from '../../finance/treasury/rules/operator-bank-account.ts'
import { type Action, defineAction, form } from '../action.ts'
import { count, described, list, object, optional } from '../fields.ts'
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
    input: object('Which page.', {
      before: optional(described('Only runs older than this one.', runId)),
      limit,
    }),
    answer: object('A page.', { runs: list('Newest first.', run), older: optional(runId) }),
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
    input: object('The merchants to pay out.', { currency, bank: outsideMoney.bank, reason }),
    checks: { currency: moneyChecks.currency },
    answer: object('The run was started; jobs create the payouts.', {
      plans: count('Number of schedules due.'),
    }),
    form: {
      place: 'payout-runs',
      path: runsPage,
      page: runsPage,
      label: 'Start a manual run…',
      explains:
        'Every merchant with a manual schedule in this currency and from this bank account is paid out, at most once a day. Nothing is sent to the bank before you send the run.',
      button: 'Start run',
    },
    run: async ({ operations, context, input }) => ({
      plans: await operations.payoutPlans.startRun(
        context,
        input.bank ?? mainBank,
        input.currency,
        input.reason,
      ),
    }),
    reply: ({ plans }) => ({
      text:
        plans === 1
          ? '1 schedule is due. Its payout appears in a run within a few seconds.'
          : `${plans} schedules are due. Their payouts appear in a run within a few seconds.`,
    }),
  }),
  defineAction({
    name: 'payout-run.send',
    scope: 'money:move',
    summary: 'Send a run: its payouts and its file become final',
    params: runKey,
    input: object('The reason.', { reason }),
    answer: runWithTotals,
    form: form<PayoutRun & Pick<RunWithTotals, 'totals'>>({
      place: 'payout-run',
      page: runPage,
      label: 'Send…',
      explains: 'The payment file is created and does not change after that. Cancel unwanted payouts first.',
      button: 'Send run',
      isOffered: ({ closedAtMs, sentAtMs, ending, totals }) =>
        closedAtMs !== undefined &&
        sentAtMs === undefined &&
        ending === undefined &&
        totals.some(({ status }) => status === 'requested'),
    }),
    run: async ({ operations, context, params, input }) =>
      toRunWithTotals(await operations.payoutRuns.sendRun(context, params.runId, input.reason)),
    reply: () => ({ text: 'The run is sent. Download its file and upload it at your bank.' }),
  }),
  defineAction({
    name: 'payout-run.paid',
    scope: 'money:move',
    summary: 'Mark a run as paid by the bank',
    params: runKey,
    input: object('The bank’s booking.', { ...booking, reason }),
    checks: bookingChecks,
    answer: runWithTotals,
    form: form<PayoutRun>({
      place: 'payout-run',
      page: runPage,
      label: 'Mark as paid…',
      explains: 'Every sent payout of the run becomes paid. Mark returned payouts individually.',
      button: 'Mark run as paid',
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
    reply: () => ({ text: 'Payout run marked as paid. Payouts update within a few seconds.' }),
  }),
  defineAction({
    name: 'payout-run.cancel',
    scope: 'money:move',
    summary: 'Cancel a run and release its money',
    params: runKey,
    input: object('The reason.', { reason }),
    answer: runWithTotals,
    form: form<PayoutRun>({
      place: 'payout-run',
      page: runPage,
      label: 'Cancel…',
      explains: ({ sentAtMs }) =>
        sentAtMs === undefined
          ? 'Nothing is sent to the bank, and the money returns to the merchants.'
          : 'Cancel only if the bank rejected the whole file; otherwise, merchants are paid twice. The money returns to the merchants.',
      button: 'Cancel run',
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
    reply: () => ({ text: 'Payout run cancelled. Payouts update within a few seconds.' }),
  }),
]
