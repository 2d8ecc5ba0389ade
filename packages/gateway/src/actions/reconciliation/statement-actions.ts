// Statements of banks and rails: import, list, and CSV mappings.
import { Failure, toDecimalText } from '@tillgate/protocol'
import type { ImportOutcome } from '../../finance/reconciliation/import-statement.ts'
import {
  type CsvMapping,
  dayForms,
  decimalSigns,
  feeSigns,
  separators,
  signs,
} from '../../finance/reconciliation/rules/csv.ts'
import { formats } from '../../finance/reconciliation/rules/decode.ts'
import type { FileSummary } from '../../finance/reconciliation/rules/file-summary.ts'
import { type Action, defineAction } from '../action.ts'
import {
  amount,
  count,
  day,
  displayed,
  list,
  matching,
  object,
  oneOf,
  optional,
  text,
  timeMs,
  visibleCharacters,
  yesNo,
} from '../fields.ts'
import { bankName, currency, limit, nextPage, pageOf, reason, uuid } from '../shared-fields.ts'

const name = matching('The name of the mapping.', {
  regexp: /^[a-z][a-z0-9-]{0,31}$/,
  expected: '1 to 32 small letters, digits and dashes, a letter first',
})
export const outsideAccount = displayed(
  matching('A bank account or a rail.', {
    regexp: /^(bank|rail):[a-z][a-z0-9-]{0,31}$/,
    expected: 'such as `bank:main` or `rail:card`',
  }),
  { placeholder: 'bank:main', suggests: 'accounts' },
)
const counts = {
  matched: count('Matches that were made.'),
  booked: count('Transfers that were booked by them.'),
  breaks: count('Breaks that were found.'),
}
const statement = {
  importId: uuid('The import’s number.'),
  fileName: text('As it was called.', { max: 200 }),
  format: oneOf('What it is.', formats),
  mapping: optional(name),
  accounts: list('Of which it has lines.', outsideAccount),
  lines: count('Lines that are new.'),
  known: count('Lines that another file had before.'),
  skipped: count('Not booked yet, or left out by the mapping.'),
  firstDay: optional(day('Of its lines.')),
  lastDay: optional(day('Of its lines.')),
  importedAtMs: timeMs('When.'),
}
const column = (description: string) =>
  text(`The heading of the column ${description}.`, { max: 100, pattern: visibleCharacters })
const columnFields = {
  separator: displayed(oneOf('Between cells.', separators), { initial: ',' }),
  decimalSign: displayed(oneOf('In amounts.', decimalSigns), { initial: '.' }),
  dayForm: displayed(oneOf('How days are written.', dayForms), { initial: 'YYYY-MM-DD' }),
  sign: displayed(oneOf('How money that went out is told from money that came in.', signs), {
    initial: 'as_written',
  }),
  day: column('with the day'),
  amount: column('with the amount'),
  amountOut: optional(column('with money that went out, where `amount` is only of what came in')),
  currency: text('The heading of the column with the currency, or its code for all lines.', {
    max: 100,
    pattern: visibleCharacters,
  }),
  references: displayed(
    list('The headings of columns with references, the line’s own first.', text('A heading.', { max: 100 }), {
      max: 8,
    }),
    { kind: 'lines' },
  ),
  direction: optional(column('that tells the direction')),
  outWord: optional(text('What that column says of money that went out.', { max: 40 })),
  fee: optional(column('with what the rail keeps')),
  feeSign: optional(
    displayed(
      oneOf(
        'Of fees: `reversed` where the rail writes what it keeps below zero; `as_written` unless given.',
        feeSigns,
      ),
      { initial: 'as_written' },
    ),
  ),
  batch: optional(column('that names what the rail pays over in one sum; the day unless given')),
  party: optional(column('with who paid or got it')),
  description: optional(column('with free text')),
  skipColumn: optional(column('by which lines are left out')),
  skipWords: optional(
    displayed(
      list('What that column says of lines that are left out.', text('A word.', { max: 40 }), { max: 20 }),
      { kind: 'lines' },
    ),
  ),
}
const mapping = {
  mappingName: displayed(name, { option: 'name', label: 'Name', placeholder: 'card' }),
  account: outsideAccount,
  settlesTo: optional(
    displayed(bankName, {
      label: 'Bank account that the rail pays over to',
      placeholder: 'main',
      suggests: 'banks',
    }),
  ),
  ...columnFields,
}
const path = '/reconciliation'

export const statementActions: readonly Action[] = [
  defineAction({
    name: 'reconcile.import',
    scope: 'reconciliation:act',
    summary: 'Import, match and book a statement of a bank (camt.053, MT940, CSV) or a rail (CSV)',
    takesFile: true,
    input: object('How it is read.', {
      mapping: optional(
        displayed(name, { label: 'Mapping, of a CSV file', placeholder: 'card', suggests: 'mappings' }),
      ),
      account: optional(displayed(outsideAccount, { label: 'Account, where the file does not name it' })),
      dryRun: optional(
        displayed(oneOf('`yes`: show what would be read, and change nothing.', ['yes', 'no'] as const), {
          initial: 'no',
          label: 'Only show what would be read',
          choices: [
            ['no', 'no, import it'],
            ['yes', 'yes, change nothing'],
          ],
        }),
      ),
      reason,
    }),
    answer: object('What came of it.', {
      isDryRun: yesNo('Nothing was changed.'),
      isRepeated: yesNo('The file was imported before: no line of it was written again.'),
      importId: optional(uuid('The import’s number.')),
      format: oneOf('What it is.', formats),
      accounts: list('Of which it has lines.', outsideAccount),
      lines: count('Lines that are new; of a dry run, all.'),
      known: count('Lines that another file had before.'),
      skipped: count('Not booked yet, or left out by the mapping.'),
      firstDay: optional(day('Of its lines.')),
      lastDay: optional(day('Of its lines.')),
      ...counts,
      examples: list(
        'Of a dry run, the first lines.',
        object('A line.', {
          lineNumber: count('In the file.'),
          account: outsideAccount,
          day: day('When it was booked.'),
          amount: amount('Above zero came in.'),
          currency,
          references: list('What may name something of ours.', text('A reference.', { max: 140 })),
          party: optional(text('Who paid or got it.', { max: 500 })),
          partyIban: optional(text('The account of the other side.', { max: 34 })),
          description: optional(text('The remittance text.', { max: 500 })),
        }),
      ),
    }),
    form: {
      place: 'statements',
      path: `${path}/import`,
      page: `${path}/imports`,
      label: 'Import a statement…',
      explains:
        'A camt.053 or MT940 file names its account itself; a CSV file is read by a saved mapping. All of it is imported or nothing, and importing it again changes nothing. Files of more than 16 MiB are for the command line.',
      button: 'Import',
    },
    async run({ operations, context, file, input }) {
      if (!file) throw new Failure('invalid_field', { field: 'file', message: 'Give a file.' })
      const given = { ...input, file, mapping: input.mapping, account: input.account }
      const { reconciliation } = operations
      return input.dryRun === 'yes'
        ? ofDryRun(await reconciliation.dryRun(context, given))
        : ofImport(await reconciliation.importStatement(context, given))
    },
    tell: (told) => ({
      text: told.isDryRun
        ? `Nothing was imported. ${told.lines} lines would be read${told.firstDay === undefined ? '' : `, of ${told.firstDay} to ${told.lastDay}`}. ${told.examples
            .map(
              (each) =>
                `Line ${each.lineNumber}: ${each.day} ${each.amount} ${each.currency} ${each.references.slice(0, 2).join(' ')}`,
            )
            .slice(0, 3)
            .join('; ')}`
        : told.isRepeated
          ? 'This file was imported before. No line was written again.'
          : `${told.lines} lines were imported, ${told.known} were known. ${told.matched} matches, ${told.breaks} breaks.`,
      ...(told.importId !== undefined && { page: `${path}/imports/${told.importId}` }),
      ...(told.breaks > 0 && { next: 'reconcile list' }),
    }),
  }),
  defineAction({
    name: 'reconcile.imports',
    scope: 'reconciliation:read',
    summary: 'List imported statements, newest first',
    input: object('Which page.', { before: optional(uuid('From the page before.')), limit }),
    answer: object('A page.', {
      imports: list('The newest first.', object('An import.', statement)),
      older: optional(text(nextPage, { max: 64 })),
    }),
    command: {
      columns: ['importId', 'format', 'accounts', 'lines', 'firstDay', 'lastDay', 'importedAtMs'],
    },
    run: ({ operations, context, input }) =>
      pageOf('imports', input, {
        read: (at) => operations.reconciliation.listImports(context, at),
        keyOf: ({ importId }) => importId,
      }),
  }),
  defineAction({
    name: 'reconcile.mapping',
    scope: 'reconciliation:act',
    summary: 'Save a CSV mapping for a bank account or a rail',
    input: object('The mapping.', { ...mapping, reason }),
    answer: object('The mapping.', mapping),
    form: {
      place: 'mappings',
      path: `${path}/mappings`,
      page: `${path}/imports`,
      label: 'Save a mapping…',
      explains:
        'How a CSV file is read: which column is what, by its heading. One of the same name is replaced. Try it with a dry run of an import.',
      button: 'Save the mapping',
    },
    async run({ operations, context, input }) {
      const { reason: why, mappingName, account, settlesTo, ...columns } = input
      const saved = await operations.reconciliation.mappings.saveMapping(
        context,
        { mappingName, account, settlesTo, columns },
        why,
      )
      return { mappingName, account, settlesTo, ...answerOf(saved.columns) }
    },
    tell: ({ mappingName }) => ({
      text: `The mapping ${mappingName} is saved.`,
      next: `reconcile import FILE --mapping ${mappingName} --dry-run yes --reason …`,
    }),
  }),
  defineAction({
    name: 'reconcile.mappings',
    scope: 'reconciliation:read',
    summary: 'List CSV mappings',
    answer: object('All of them.', { mappings: list('By name.', object('A mapping.', mapping)) }),
    command: {
      columns: ['mappingName', 'account', 'settlesTo', 'separator', 'dayForm'],
    },
    run: async ({ operations, context }) => ({
      mappings: (await operations.reconciliation.mappings.listMappings(context)).map(
        ({ columns: of, ...rest }) => ({ ...rest, ...answerOf(of) }),
      ),
    }),
  }),
]

function answerOf(of: CsvMapping) {
  return { ...of, references: [...of.references], skipWords: of.skipWords && [...of.skipWords] }
}

function ofDryRun(run: FileSummary) {
  const examples = run.examples.map((line) => ({
    ...line,
    references: [...line.references],
    amount: toDecimalText(line.amountMinor, line.currency),
  }))
  return {
    ...run,
    isDryRun: true,
    isRepeated: false,
    known: 0,
    matched: 0,
    booked: 0,
    breaks: 0,
    accounts: [...run.accounts],
    examples,
  }
}

function ofImport({ statement: of, isRepeated, counts: made }: ImportOutcome) {
  const { matched, booked, breaks } = made
  return {
    ...of,
    matched,
    booked,
    breaks,
    isDryRun: false,
    isRepeated,
    accounts: [...of.accounts],
    examples: [],
  }
}
