// till bill: a day's bill, downloaded and verified.
import type { Bill } from '../../bills.ts'
import { type Command, credentialsOption, exitCodes, jsonOption, textOption, UsageError } from '../command.ts'
import { amountText, columns } from '../terminal.ts'

export const billCommand: Command = {
  name: 'bill',
  summary: 'download a day’s bill, check its SHA-256 and show its totals',
  positionals: ['date'],
  options: {
    out: { type: 'string', value: 'FILE', about: 'write the bill to this file, as CSV' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till bill 2026-11-16', 'till bill 2026-11-16 --out bill.csv'],
  usesGateway: true,
  async run({ positionals: [date = ''], values, terminal, client }) {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date))
      throw new UsageError(`"${date}" is not a date. Write the UTC day as YYYY-MM-DD, such as 2026-11-16.`)
    const bill = await client().bills.get(date)
    const { csv, lines, ...answer } = bill
    const file = textOption(values, 'out')
    if (file !== undefined) terminal.writeFile(file, csv, { mode: 0o644, force: true })
    terminal.print({ ...answer, lines: [...lines()] }, describeBill(bill))
    return exitCodes.done
  },
}

const names = ['opening', 'late', 'payments', 'refunds', 'fees', 'payouts', 'corrections', 'closing'] as const

function describeBill({ date, lineCount, sha256, totals }: Bill): string[] {
  return [
    ...columns([
      ['date', date],
      ['lines', lineCount],
      ['sha256', sha256],
    ]),
    ...totals.flatMap((each) => [
      '',
      ...columns(names.map((name) => [name, amountText(each[name], each.currency)])),
    ]),
  ]
}
