// Runs and their payouts: listed, started by hand, sent to the bank, and what the bank says of them.
import type { Ending } from '../../payouts/rules/end-payout.ts'
import { nextStatuses, type Payout, type PayoutRun, payoutStatuses } from '../../payouts/rules/payout.ts'
import { mainBank } from '../../treasury/rules/bank-account.ts'
import { type Act, defineAct, form } from '../act.ts'
import { count, list, object, oneOf, optional } from '../fields.ts'
import { currency, limit, merchantId, money, moneyChecks, pageOf, reason } from '../shared-fields.ts'
import {
  booking,
  bookingChecks,
  payout,
  payoutId,
  run,
  runId,
  runWithTotals,
  toPayout,
  toRun,
  toRunWithTotals,
} from './payout-fields.ts'

const runKey = object('Which run.', { runId })
const payoutKey = object('Which payout.', { merchantId, payoutId })
const runsPage = '/payouts'
const runPage = `${runsPage}/:runId`

const lists: readonly Act[] = [
  defineAct({
    name: 'payout-run.list',
    api: { method: 'GET', path: '/payout-runs', id: 'listPayoutRuns' },
    scope: 'payouts:read',
    summary: 'Runs of payouts, the newest first',
    input: object('Which page.', { before: optional(runId), limit }),
    answer: object('A page.', { runs: list('The newest first.', run), older: optional(runId) }),
    command: {
      words: 'payout runs',
      columns: ['runId', 'day', 'bank', 'currency', 'closedAtMs', 'sentAtMs', 'ending'],
    },
    async run({ service, actor, input }) {
      const { runs, older } = await pageOf('runs', input, {
        read: (at) => service.as(actor).payoutRuns.listRuns(at),
        keyOf: (each) => each.runId,
      })
      return { runs: runs.map(toRun), older }
    },
  }),
  defineAct({
    name: 'payout-run.show',
    api: { method: 'GET', path: '/payout-runs/:runId', id: 'showPayoutRun' },
    scope: 'payouts:read',
    summary: 'One run and how far its payouts are',
    params: runKey,
    answer: runWithTotals,
    command: { words: 'payout run', columns: ['status', 'payouts', 'sum'] },
    run: async ({ service, actor, params }) =>
      toRunWithTotals(await service.as(actor).payoutRuns.showRun(params.runId)),
  }),
  defineAct({
    name: 'payout.list',
    api: { method: 'GET', path: '/payouts', id: 'listPayouts' },
    scope: 'payouts:read',
    summary: 'Payouts, the newest first',
    input: object('Which payouts.', {
      merchantId: optional(merchantId),
      runId: optional(runId),
      status: optional(oneOf('Of this status.', payoutStatuses)),
      before: optional(payoutId),
      limit,
    }),
    answer: object('A page.', { payouts: list('The newest first.', payout), older: optional(payoutId) }),
    command: {
      words: 'payout list',
      columns: ['payoutId', 'merchantId', 'status', 'amount', 'currency', 'runId'],
    },
    async run({ service, actor, input: { before, limit: atMost, ...filter } }) {
      const { payouts, older } = await pageOf(
        'payouts',
        { before, limit: atMost },
        {
          read: (at) => service.as(actor).payouts.listPayouts(filter, at),
          keyOf: (each) => each.payoutId,
        },
      )
      return { payouts: payouts.map(toPayout), older }
    },
  }),
  defineAct({
    name: 'payout.show',
    api: { method: 'GET', path: '/merchants/:merchantId/payouts/:payoutId', id: 'showPayout' },
    scope: 'payouts:read',
    summary: 'One payout',
    params: payoutKey,
    answer: payout,
    command: { words: 'payout show' },
    run: async ({ service, actor, params }) => toPayout(await service.as(actor).payouts.findPayout(params)),
  }),
  ...(['xml', 'csv'] as const).map((format) =>
    defineAct({
      name: `payout-run.${format}`,
      api: {
        method: 'GET',
        path: `/payout-runs/:runId/payouts.${format}`,
        id: `exportPayoutRun${format === 'xml' ? 'Xml' : 'Csv'}`,
      },
      scope: 'payouts:read',
      summary:
        format === 'xml'
          ? 'A run that was sent, as a payment file for the bank (ISO 20022 pain.001.001.09); the same bytes for ever'
          : 'A run that was sent, as CSV; the same bytes for ever',
      params: runKey,
      answer: format,
      command: { words: `payout export-${format}` },
      run: ({ service, actor, params }) => service.as(actor).payoutRuns.exportRun(params.runId, format),
    }),
  ),
]

const runActs: readonly Act[] = [
  defineAct({
    name: 'payout-run.start',
    api: { method: 'POST', path: '/payout-runs', id: 'startPayoutRun' },
    scope: 'money:move',
    summary: 'Pay out every merchant whose plan is by hand, as its plan says',
    input: object('Which of them.', { currency, bank: money.bank, reason }),
    checks: { currency: moneyChecks.currency },
    answer: object('It is started; workers make the payouts.', { plans: count('So many plans are due.') }),
    command: { words: 'payout start' },
    form: {
      place: 'payout-runs',
      path: runsPage,
      page: runsPage,
      label: 'Start a run by hand…',
      explains:
        'Every merchant whose plan is by hand, in this currency and from this bank account, is paid out as its plan says, once a day at most. Nothing goes to the bank before you send the run.',
      button: 'Start the run',
    },
    run: async ({ service, actor, input }) => ({
      plans: await service
        .as(actor)
        .payoutPlans.startRun(input.bank ?? mainBank, input.currency, input.reason),
    }),
    tell: ({ plans }) => ({ text: `${plans} plans are due now. Their payouts appear in a run in a moment.` }),
  }),
  defineAct({
    name: 'payout-run.send',
    api: { method: 'POST', path: '/payout-runs/:runId/send', id: 'sendPayoutRun' },
    scope: 'money:move',
    summary: 'Send a run: its payouts are final, and its file can be had from then on',
    params: runKey,
    input: object('Why.', { reason }),
    answer: runWithTotals,
    command: { words: 'payout send' },
    form: form<PayoutRun>({
      place: 'payout-run',
      path: `${runPage}/send`,
      page: runPage,
      label: 'Send…',
      explains:
        'The file for the bank is made, and stays the same from then on. Payouts that you do not want are cancelled before.',
      button: 'Send the run',
      isOffered: ({ closedAtMs, sentAtMs, ending }) =>
        closedAtMs !== undefined && sentAtMs === undefined && ending === undefined,
    }),
    run: async ({ service, actor, params, input }) =>
      toRunWithTotals(await service.as(actor).payoutRuns.sendRun(params.runId, input.reason)),
    tell: () => ({ text: 'The run is sent: download its file and hand it to the bank.' }),
  }),
  defineAct({
    name: 'payout-run.paid',
    api: { method: 'POST', path: '/payout-runs/:runId/paid', id: 'payoutRunPaid' },
    scope: 'money:move',
    summary: 'The bank paid a run: its payouts that are under way become paid',
    params: runKey,
    input: object('What the bank says.', { ...booking, reason }),
    checks: bookingChecks,
    answer: runWithTotals,
    command: { words: 'payout run-paid' },
    form: form<PayoutRun>({
      place: 'payout-run',
      path: `${runPage}/paid`,
      page: runPage,
      label: 'The bank paid it…',
      explains: 'Every payout of the run that is sent becomes paid. Note those that came back one by one.',
      button: 'All is paid',
      isOffered: ({ sentAtMs, ending }) => sentAtMs !== undefined && ending === undefined,
    }),
    run: async ({ service, actor, params, input: { reason: why, ...booked } }) =>
      toRunWithTotals(
        await service
          .as(actor)
          .payoutRuns.endRun(params.runId, { ending: 'paid', ...booked, message: undefined }, why),
      ),
    tell: () => ({ text: 'The run is paid. Its payouts follow in a moment.' }),
  }),
  defineAct({
    name: 'payout-run.cancel',
    api: { method: 'POST', path: '/payout-runs/:runId/cancel', id: 'cancelPayoutRun' },
    scope: 'money:move',
    summary: 'Cancel a run that the bank does not carry out: the money is free again',
    params: runKey,
    input: object('Why.', { reason }),
    answer: runWithTotals,
    command: { words: 'payout cancel-run' },
    form: form<PayoutRun>({
      place: 'payout-run',
      path: `${runPage}/cancel`,
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
    run: async ({ service, actor, params, input }) =>
      toRunWithTotals(
        await service
          .as(actor)
          .payoutRuns.endRun(
            params.runId,
            { ending: 'cancelled', message: input.reason, reference: undefined, valueDate: undefined },
            input.reason,
          ),
      ),
    tell: () => ({ text: 'The run is cancelled. Its payouts follow in a moment.' }),
  }),
]

const endings = {
  paid: {
    status: 'paid',
    summary: 'The bank paid it',
    label: 'Paid…',
    explains: 'The bank has paid it: the money has left.',
    button: 'It is paid',
  },
  return: {
    status: 'returned',
    summary: 'The bank sent it back: the money is the merchant’s again',
    label: 'Returned…',
    explains:
      'The bank sent it back: the money is in the merchant’s wallet again. Give the booking of the return.',
    button: 'It came back',
  },
} as const

const payoutActsOfBank = (['paid', 'return'] as const).map((verb) =>
  defineAct({
    name: `payout.${verb}`,
    api: { method: 'POST', path: `/merchants/:merchantId/payouts/:payoutId/${verb}`, id: `${verb}Payout` },
    scope: 'money:move',
    summary: endings[verb].summary,
    params: payoutKey,
    input: object('What the bank says.', { ...booking, reason }),
    checks: bookingChecks,
    answer: payout,
    command: { words: `payout ${verb}` },
    form: form<Payout>({
      place: 'payout',
      path: `/merchants/:merchantId/payouts/:payoutId/${verb}`,
      page: '/merchants/:merchantId/payouts/:payoutId',
      label: endings[verb].label,
      explains: endings[verb].explains,
      button: endings[verb].button,
      isOffered: isPossible(endings[verb].status),
    }),
    run: async ({ service, actor, params, input: { reason: why, ...outside } }) =>
      toPayout(
        await service
          .as(actor)
          .payouts.endPayout(
            params,
            { status: endings[verb].status, outside, message: verb === 'return' ? why : undefined },
            why,
          ),
      ),
    tell: ({ payoutId: id, status }) => ({ text: `Payout ${id} is ${status}.` }),
  }),
)

const cancelPayout = defineAct({
  name: 'payout.cancel',
  api: { method: 'POST', path: '/merchants/:merchantId/payouts/:payoutId/cancel', id: 'cancelPayout' },
  scope: 'money:move',
  summary: 'Cancel a payout that the bank does not carry out: the money is free again',
  params: payoutKey,
  input: object('Why.', { reason }),
  answer: payout,
  command: { words: 'payout cancel' },
  form: form<Payout>({
    place: 'payout',
    path: '/merchants/:merchantId/payouts/:payoutId/cancel',
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
  run: async ({ service, actor, params, input }) =>
    toPayout(
      await service
        .as(actor)
        .payouts.endPayout(
          params,
          { status: 'cancelled', outside: undefined, message: input.reason },
          input.reason,
        ),
    ),
  tell: ({ payoutId: id }) => ({ text: `Payout ${id} is cancelled, and the money is the merchant’s again.` }),
})

export const payoutActs: readonly Act[] = [...lists, ...runActs, ...payoutActsOfBank, cancelPayout]

function isPossible(to: Ending['status']) {
  return ({ status }: Payout): boolean => (nextStatuses[status] as readonly string[]).includes(to)
}
