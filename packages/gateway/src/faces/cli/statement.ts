// tillgate statement: a merchant's payments, refunds and payouts between two moments, with the balances before and
// after. Written page by page, so that a year of a large merchant needs no more memory than a day.
import { Failure, toDecimalText } from '@tillgate/protocol'
import { Command, Option } from 'commander'
import type { StatementEntry, StatementReader } from '../../ledger/store/statements.ts'
import { csvStatement } from '../../ledger/write-statement.ts'
import { amountText, parseTime } from './amount.ts'
import type { WithContext } from './context.ts'

interface StatementOptions {
  readonly merchant: string
  readonly from: string
  readonly to?: string
  readonly csv?: boolean
  readonly json?: boolean
}

export function statementCommand(withContext: WithContext): Command {
  return new Command('statement')
    .description('a merchant’s payments, refunds and payouts, with opening and closing balance')
    .requiredOption('--merchant <merchantId>')
    .requiredOption('--from <time>', 'a day or a moment, UTC')
    .option('--to <time>', 'the first moment that is no longer in it; now when left out')
    .addOption(new Option('--csv', 'comma-separated values').conflicts('json'))
    .option('--json', 'print JSON')
    .action((options: StatementOptions) =>
      withContext(async ({ service, statements, actor, clock }) => {
        const { merchant: merchantId } = options
        await service.as(actor).merchants.showMerchant(merchantId)
        const fromMs = parseTime(options.from, '--from')
        const toMs = options.to === undefined ? clock.now() : parseTime(options.to, '--to')
        if (toMs < fromMs) throw new Failure('invalid_field', { message: '--to is before --from.' })
        const write = (text: string) => void process.stdout.write(text)
        const form = options.csv ? csvStatement : options.json ? jsonWriter : textWriter
        await statements.read({ merchantId, fromMs, toMs }, form(write))
      }),
    )
}

type Writer = (write: (text: string) => void) => StatementReader

export const jsonWriter: Writer = (write) => {
  let written = 0
  const balances = (all: ReadonlyMap<string, bigint>) =>
    JSON.stringify(
      Object.fromEntries([...all].map(([currency, minor]) => [currency, toDecimalText(minor, currency)])),
    )
  return {
    opening: (all) => write(`{"opening":${balances(all)},"entries":[`),
    entries(page) {
      for (const entry of page) write(`${written++ > 0 ? ',' : ''}\n${JSON.stringify(entryJson(entry))}`)
    },
    closing: (all) => write(`\n],"closing":${balances(all)}}\n`),
  }
}

function entryJson({ timeMs, kind, amountMinor, currency, transactionId, ...numbers }: StatementEntry) {
  const { paymentId, orderNo, refundId, referRefundNo } = numbers
  const amount = toDecimalText(amountMinor, currency)
  return { timeMs, kind, transactionId, paymentId, orderNo, refundId, referRefundNo, currency, amount }
}

export const textWriter: Writer = (write) => {
  const balances = (title: string, all: ReadonlyMap<string, bigint>) => {
    const texts = [...all].map(([currency, minor]) => amountText(minor, currency))
    write(`${title}  ${texts.join(', ') || 'nothing'}\n`)
  }
  return {
    opening: (all) => balances('Opening balance', all),
    entries(page) {
      for (const { timeMs, kind, amountMinor, currency, paymentId, orderNo, referRefundNo } of page) {
        const about = [paymentId, referRefundNo ?? orderNo].filter((each) => each !== undefined).join('  ')
        const amount = amountText(amountMinor, currency).padStart(20)
        write(`${new Date(timeMs).toISOString()}  ${kind.padEnd(7)}  ${amount}  ${about}\n`)
      }
    },
    closing: (all) => balances('Closing balance', all),
  }
}
