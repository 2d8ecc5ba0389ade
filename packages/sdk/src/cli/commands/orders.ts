// till orders: your payment orders, newest first.
import { orderStatuses } from '@tillgate/protocol'
import type { OrderFilter } from '../../orders.ts'
import { type Command, credentialsOption, exitCodes, jsonOption, textOption, UsageError } from '../command.ts'
import { parseDuration } from '../duration.ts'
import { amountText, paintStatus, type Terminal, timeText } from '../terminal.ts'

const statuses = Object.keys(orderStatuses)
const shown = 20

export const ordersCommand: Command = {
  name: 'orders',
  summary: 'list your payment orders, newest first',
  positionals: [],
  options: {
    status: {
      type: 'string',
      value: 'STATUS',
      about: 'only with this payment status',
      choices: statuses,
    },
    since: {
      type: 'string',
      value: 'TIME',
      about: 'created at this time or later: 2026-11-16, or 24h for the last 24 hours',
    },
    until: { type: 'string', value: 'TIME', about: 'created before this time' },
    cursor: { type: 'string', value: 'CURSOR', about: 'continue from the cursor of an earlier response' },
    limit: { type: 'string', value: 'N', about: `maximum number, up to 100; default: ${shown}` },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till orders', 'till orders --status success --since 24h --json'],
  usesGateway: true,
  async run({ values, terminal, client }) {
    const status = textOption(values, 'status')
    if (status !== undefined && !statuses.includes(status))
      throw new UsageError(`--status must be one of ${statuses.join(', ')}.`)
    const limit = textOption(values, 'limit') ?? String(shown)
    if (!/^[1-9]\d?$|^100$/.test(limit)) throw new UsageError('--limit must be a number from 1 to 100.')
    const [since, until, cursor] = ['since', 'until', 'cursor'].map((name) => textOption(values, name))
    const answer = await client().orders.list({
      limit: Number(limit),
      // Safe: it is one of them.
      ...(status !== undefined && { status: status as OrderFilter['status'] & string }),
      ...(since !== undefined && { since: timeOf('since', since, terminal) }),
      ...(until !== undefined && { until: timeOf('until', until, terminal) }),
      ...(cursor !== undefined && { cursor }),
    })
    terminal.print(
      answer,
      answer.orders.map((order) =>
        [
          terminal.paint('dim', timeText(order.paymentTime) ?? ''),
          order.paymentId,
          paintStatus(terminal, order.paymentStatus),
          amountText(order.paymentAmount, order.currency),
          order.orderNo,
        ].join('  '),
      ),
    )
    if (answer.cursor !== undefined) terminal.note(`More: till orders --cursor ${answer.cursor}`)
    else if (answer.orders.length === 0) terminal.note('No orders.')
    return exitCodes.done
  },
}

function timeOf(name: string, text: string, { now }: Terminal): number {
  const isDuration = /^\d+[a-z]/.test(text)
  const timeMs = isDuration
    ? now() - parseDuration(text)
    : /^\d{4}-/.test(text)
      ? Date.parse(text)
      : Number.NaN
  if (Number.isNaN(timeMs))
    throw new UsageError(`--${name} must be a time such as 2026-11-16, 2026-11-16T08:00Z or 24h.`)
  return Math.round(timeMs)
}
