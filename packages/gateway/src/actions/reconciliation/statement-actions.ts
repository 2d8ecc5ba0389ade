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
  described,
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
  expected: '1 to 32 lower-case letters, digits and dashes, starting with a letter',
})
export const outsideAccount = displayed(
  matching('A bank account or a rail.', {
    regexp: /^(bank|rail):[a-z][a-z0-9-]{0,31}$/,
    expected: 'such as `bank:main` or `rail:card`',
  }),
  { placeholder: 'bank:main', suggests: 'accounts' },
)
const counts = {
  matched: count('Number of matches.'),
  booked: count('Transfers booked by the import.'),
  breaks: count('Number of new breaks.'),
}
const statement = {
  importId: uuid('The import’s ID.'),
  fileName: text('The file’s name.', { max: 200 }),
  format: oneOf('The file’s format.', formats),
  mapping: optional(name),
  accounts: list('The accounts in the file.', outsideAccount),
  lines: count('Number of new lines.'),
  known: count('Lines that were imported before.'),
  skipped: count('Lines that are not booked yet, or excluded by the mapping.'),
  firstDay: optional(day('First day of its lines.')),
  lastDay: optional(day('Last day of its lines.')),
  importedAtMs: timeMs('Time of the import.'),
}
const column = (description: string) =>
  text(`The heading of the column ${description}.`, { max: 100, pattern: visibleCharacters })
const columnFields = {
  separator: displayed(oneOf('The separator between cells.', separators), { initial: ',' }),
  decimalSign: displayed(oneOf('The decimal sign in amounts.', decimalSigns), { initial: '.' }),
  dayForm: displayed(oneOf('The date format.', dayForms), { initial: 'YYYY-MM-DD' }),
  sign: displayed(oneOf('How the file distinguishes money in from money out.', signs), {
    initial: 'as_written',
  }),
  day: column('with the day'),
  amount: column('with the amount'),
  amountOut: optional(column('with money out, if `amount` contains only money in')),
  currency: text('The heading of the column with the currency, or its code for all lines.', {
    max: 100,
    pattern: visibleCharacters,
  }),
  references: displayed(
    list(
      'The headings of columns with references, the line’s own reference first.',
      text('A heading.', { max: 100 }),
      {
        max: 8,
      },
    ),
    { kind: 'lines' },
  ),
  direction: optional(column('with the direction')),
  outWord: optional(text('The value in the direction column that means money out.', { max: 40 })),
  fee: optional(column('with the rail’s fee')),
  feeSign: optional(
    displayed(
      oneOf('For fees: `reversed` if the rail writes them as negative; `as_written` by default.', feeSigns),
      { initial: 'as_written' },
    ),
  ),
  batch: optional(column('that identifies a payout of the rail; by default the day')),
  party: optional(column('with the counterparty')),
  description: optional(column('with the remittance text')),
  skipColumn: optional(column('that marks lines to exclude')),
  skipWords: optional(
    displayed(
      list('The values in that column that mark a line to exclude.', text('A word.', { max: 40 }), {
        max: 20,
      }),
      {
        kind: 'lines',
      },
    ),
  ),
}
const mapping = {
  mappingName: displayed(name, { option: 'name', label: 'Name', placeholder: 'card' }),
  account: outsideAccount,
  settlesTo: optional(
    displayed(described('The bank account that receives the rail’s payouts.', bankName), {
      label: 'Bank account for rail payouts',
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
    input: object('How to read the file.', {
      mapping: optional(
        displayed(name, { label: 'Mapping of a CSV file', placeholder: 'card', suggests: 'mappings' }),
      ),
      account: optional(displayed(outsideAccount, { label: 'Account (if not in the file)' })),
      dryRun: optional(
        displayed(oneOf('`yes`: show what would be imported, without changes.', ['yes', 'no'] as const), {
          initial: 'no',
          label: 'Preview only',
          choices: [
            ['no', 'no, import it'],
            ['yes', 'yes, change nothing'],
          ],
        }),
      ),
      // The file describes the import.
      reason: optional(displayed(reason, { label: 'Reason (optional)' })),
    }),
    answer: object('The result.', {
      isDryRun: yesNo('Nothing was changed.'),
      isRepeated: yesNo('The file was imported before, so no line was imported again.'),
      importId: optional(uuid('The import’s ID.')),
      format: oneOf('The file’s format.', formats),
      accounts: list('The accounts in the file.', outsideAccount),
      lines: count('Number of new lines; in a preview, all lines.'),
      known: count('Lines that were imported before.'),
      skipped: count('Lines that are not booked yet, or excluded by the mapping.'),
      firstDay: optional(day('First day of its lines.')),
      lastDay: optional(day('Last day of its lines.')),
      ...counts,
      examples: list(
        'In a preview, the first lines.',
        object('A line.', {
          lineNumber: count('The line’s number in the file.'),
          account: outsideAccount,
          day: day('The booking day.'),
          amount: amount('Positive for money in.'),
          currency,
          references: list('References that may match the books.', text('A reference.', { max: 140 })),
          party: optional(text('The counterparty.', { max: 500 })),
          partyIban: optional(text('The counterparty’s account.', { max: 34 })),
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
        'A camt.053 or MT940 file names its account; a CSV file needs a saved mapping. A file is imported completely or not at all, and importing it again changes nothing. Import files larger than 16 MiB on the command line.',
      button: 'Import',
    },
    async run({ operations, context, file, input }) {
      if (!file) throw new Failure('invalid_field', { field: 'file', message: 'Choose a file.' })
      const given = { ...input, file, mapping: input.mapping, account: input.account }
      const { reconciliation } = operations
      return input.dryRun === 'yes'
        ? ofDryRun(await reconciliation.dryRun(context, given))
        : ofImport(await reconciliation.importStatement(context, given))
    },
    reply: (result) => ({
      text: result.isDryRun
        ? `Preview: nothing was imported. The file has ${result.lines} lines${result.firstDay === undefined ? '' : `, of ${result.firstDay} to ${result.lastDay}`}. ${result.examples
            .map(
              (each) =>
                `Line ${each.lineNumber}: ${each.day} ${each.amount} ${each.currency} ${each.references.slice(0, 2).join(' ')}`,
            )
            .slice(0, 3)
            .join('; ')}`
        : result.isRepeated
          ? 'This file was imported before, so no line was imported again.'
          : `${result.lines} new lines were imported, ${result.known} were already imported. ${result.matched} matches, ${result.breaks} breaks.`,
      ...(result.importId !== undefined && { page: `${path}/imports/${result.importId}` }),
      ...(result.breaks > 0 && { next: 'reconcile list' }),
    }),
  }),
  defineAction({
    name: 'reconcile.imports',
    scope: 'reconciliation:read',
    summary: 'List imported statements, newest first',
    input: object('Which page.', { before: optional(uuid('The cursor of the previous page.')), limit }),
    answer: object('A page.', {
      imports: list('Newest first.', object('An import.', statement)),
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
        'How to read a CSV file: the meaning of each column, by its heading. A mapping with the same name is replaced. Test it with a preview of an import.',
      button: 'Save mapping',
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
    reply: ({ mappingName }) => ({
      text: `The mapping ${mappingName} was saved.`,
      next: `reconcile import FILE --mapping ${mappingName} --dry-run yes`,
    }),
  }),
  defineAction({
    name: 'reconcile.mappings',
    scope: 'reconciliation:read',
    summary: 'List CSV mappings',
    answer: object('All mappings.', { mappings: list('By name.', object('A mapping.', mapping)) }),
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
