// The operator's bank accounts: add, change, close, and their book balances.
import { digitsOf, toDecimalText } from '@tillgate/protocol'
import type { Standing } from '../../finance/reconciliation/read-standings.ts'
import type { BankWithOpenings } from '../../finance/treasury/manage-banks.ts'
import { type BankAccount, mainBank } from '../../finance/treasury/rules/operator-bank-account.ts'
import { type Action, defineAction, form } from '../action.ts'
import { amount, day, displayed, list, object, optional, text, timeMs } from '../fields.ts'
import { bankName, currency, reason } from '../shared-fields.ts'

const named = displayed(bankName, { option: 'name', label: 'Name', placeholder: 'euro' })
const key = object('The bank account.', { bankName: named })
const held = optional(displayed(currency, { label: 'Currency (default: all)' }))
const details = {
  holder: text('The account holder’s name as registered with the bank.', { max: 70 }),
  iban: optional(
    displayed(text('IBAN.', { max: 42 }), { label: 'IBAN', placeholder: 'DE89 3704 0044 0532 0130 00' }),
  ),
  lines: optional(
    displayed(
      list('Details that a transfer needs if there is no IBAN.', text('A line.', { max: 70 }), { max: 6 }),
      { kind: 'lines', placeholder: 'Account 12345678, Sort code 20-00-00' },
    ),
  ),
  bic: optional(
    displayed(text('The bank’s BIC.', { max: 14 }), { label: 'BIC', placeholder: 'COBADEFFXXX' }),
  ),
}
// Safe: these are its own keys.
const detailNames = Object.keys(details) as (keyof typeof details)[]
const bank = {
  bankName: named,
  currency: held,
  ...details,
  createdAtMs: timeMs('Time of creation.'),
  closedAtMs: optional(timeMs('When it was closed for new movements.')),
}
const balances = list(
  'By currency.',
  object('A balance.', {
    currency,
    booked: amount('The balance that the bank should show, including received bank transfers.'),
    statementDay: optional(day('The last day covered by a statement.')),
    statement: optional(amount('The statement’s balance on that day.')),
    unexplained: optional(amount('The unexplained difference on that day.')),
  }),
)
const openings = list(
  'Opening balances, by currency.',
  object('An opening balance.', {
    currency,
    amount: amount('The balance at the start of the day.'),
    day: day('The day.'),
    transferId: text('The transfer’s ID, for corrections.', { max: 64 }),
  }),
)
const page = '/money/banks/:bankName'

export const bankActions: readonly Action[] = [
  defineAction({
    name: 'bank.list',
    scope: 'banks:read',
    summary: 'List the operator’s bank accounts, open ones first',
    answer: object('All bank accounts.', {
      banks: list('Open accounts first.', object('A bank account.', { ...bank, balances, openings })),
    }),
    command: { columns: ['bankName', 'currency', 'holder', 'iban', 'closedAtMs'] },
    async run({ operations, context }) {
      const standings = await operations.reconciliation.listStandings(context)
      return { banks: (await operations.banks.listBanks(context)).map((bank) => toAnswer(bank, standings)) }
    },
  }),
  defineAction({
    name: 'bank.show',
    scope: 'banks:read',
    summary: 'Show a bank account with its book balance',
    params: key,
    answer: object('A bank account.', { ...bank, balances, openings }),
    run: async ({ operations, context, params }) =>
      toAnswer(
        await operations.banks.showBank(context, params.bankName),
        await operations.reconciliation.listStandings(context),
      ),
  }),
  defineAction({
    name: 'bank.add',
    scope: 'banks:manage',
    summary: 'Add a bank account of the operator',
    input: object('The bank account.', { bankName: named, currency: held, ...details, reason }),
    checks: { currency: ({ currency: code }) => void digitsOf(String(code)) },
    answer: object('The bank account.', bank),
    form: {
      place: 'banks',
      path: '/money/banks',
      page: '/money',
      label: 'Add a bank account…',
      explains:
        'Top-ups, payouts and corrections can then use the account. Enter its IBAN, or the details that a transfer to it needs.',
      button: 'Add bank account',
      needsConfirmation: true,
    },
    run: ({ operations, context, input: { reason: why, ...given } }) =>
      operations.banks.addBank(
        context,
        { currency: undefined, ...all(given), bankName: given.bankName },
        why,
      ),
    reply: ({ bankName: name }) => ({
      text: `The bank account ${name} was added.`,
      page: `/money/banks/${name}`,
    }),
  }),
  defineAction({
    name: 'bank.change',
    scope: 'banks:manage',
    summary: 'Change a bank account’s holder and details. Omitted details are removed',
    params: key,
    input: object('The complete details.', { ...details, reason }),
    answer: object('The bank account.', bank),
    form: form<BankAccount>({
      place: 'bank',
      page,
      label: 'Change…',
      explains: 'Earlier movements do not change. Empty fields are removed.',
      button: 'Change',
      fields: [...detailNames, 'reason'],
      isOffered: isOpen,
      needsConfirmation: true,
    }),
    run: ({ operations, context, params, input: { reason: why, ...given } }) =>
      operations.banks.changeBank(context, params.bankName, all(given), why),
    reply: ({ bankName: name }) => ({ text: `The bank account ${name} was changed.` }),
  }),
  defineAction({
    name: 'bank.close',
    scope: 'banks:manage',
    summary: 'Close a bank account for new movements',
    params: key,
    input: object('The reason.', { reason }),
    answer: object('The bank account.', bank),
    form: form<BankAccount>({
      place: 'bank',
      page,
      label: 'Close…',
      explains: 'The account does not accept new movements. Its balance in the books and its history stay.',
      button: 'Close bank account',
      isDangerous: true,
      isOffered: (of) => isOpen(of) && of.bankName !== mainBank,
    }),
    run: ({ operations, context, params, input }) =>
      operations.banks.closeBank(context, params.bankName, input.reason),
    reply: ({ bankName: name }) => ({ text: `The bank account ${name} is closed.` }),
  }),
]

function isOpen({ closedAtMs }: BankAccount): boolean {
  return closedAtMs === undefined
}

function all<Given extends { holder: string; iban?: string; lines?: string[]; bic?: string }>(given: Given) {
  return { iban: undefined, lines: undefined, bic: undefined, ...given }
}

function toAnswer({ bank: of, openings: opened }: BankWithOpenings, standings: readonly Standing[]) {
  return {
    ...of,
    openings: opened.map((each) => ({ ...each, amount: toDecimalText(each.amountMinor, each.currency) })),
    balances: standings
      .filter(({ bankName: name }) => name === of.bankName)
      .map(({ currency: code, expectedMinor, statement }) => ({
        currency: code,
        booked: toDecimalText(expectedMinor, code),
        ...(statement && {
          statementDay: statement.day,
          statement: toDecimalText(statement.outsideMinor, code),
          unexplained: toDecimalText(statement.unexplainedMinor, code),
        }),
      })),
  }
}
