// till query: an order's current state, or its final one.
import type { QueryAnswer } from '@tillgate/protocol'
import type { OrderReference } from '../../orders.ts'
import {
  type Command,
  type CommandInput,
  credentialsOption,
  exitCodes,
  jsonOption,
  textOption,
  UsageError,
} from '../command.ts'
import { parseDuration } from '../duration.ts'
import { amountText, columns, paintStatus, type Terminal, timeText } from '../terminal.ts'

export const queryCommand: Command = {
  name: 'query',
  summary: 'show a payment order and its refunds',
  positionals: ['[paymentId]'],
  options: {
    'order-no': { type: 'string', value: 'NUMBER', about: 'find the order by its orderNo' },
    'refund-id': { type: 'string', value: 'ID', about: 'find the order by a refundId' },
    wait: { type: 'boolean', about: 'wait until the payment has a final status' },
    timeout: { type: 'string', value: 'DURATION', about: 'the limit of --wait; default: 15m' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till query P01K73ZQ800JZ7V3N4Q5R6S7T8W --wait', 'till query --order-no A-1001 --json'],
  usesGateway: true,
  async run(input) {
    const { values, terminal, client } = input
    const { orders } = client()
    const timeout = textOption(values, 'timeout')
    const answer = values['wait']
      ? await orders.waitUntilFinal(
          referenceOf(input),
          timeout === undefined ? {} : { timeoutMs: parseDuration(timeout) },
        )
      : await orders.query(referenceOf(input))
    terminal.print(answer, describeOrder(answer, terminal))
    return exitCodes.done
  },
}

function referenceOf({ positionals, values }: CommandInput): OrderReference {
  const [paymentId] = positionals
  const [orderNo, refundId] = [textOption(values, 'order-no'), textOption(values, 'refund-id')]
  const given = [paymentId && { paymentId }, orderNo && { orderNo }, refundId && { refundId }].filter(Boolean)
  const [reference] = given
  if (given.length !== 1 || !reference) {
    throw new UsageError('Use one of paymentId, --order-no or --refund-id.')
  }
  return reference
}

export function describeOrder(answer: QueryAnswer, terminal: Terminal): string[] {
  const refunds = answer.refunds ?? []
  return [
    ...columns([
      ['paymentId', answer.paymentId],
      ['orderNo', answer.orderNo],
      ['status', paintStatus(terminal, answer.status)],
      ['paymentStatus', refunds.length > 0 ? paintStatus(terminal, answer.paymentStatus) : undefined],
      // If there are refunds, the message belongs to a refund and is shown there.
      ['reason', refunds.length > 0 ? undefined : answer.msg],
      ['amount', amountText(answer.paymentAmount, answer.currency)],
      ['created', timeText(answer.paymentTime)],
      ['paid', timeText(answer.paidTime)],
      ['transactionId', answer.transactionId],
    ]),
    ...refunds.flatMap((refund) => [
      '',
      ...columns([
        ['refundId', refund.refundId],
        ['refundNo', refund.referRefundNo],
        ['status', paintStatus(terminal, refund.status)],
        ['reason', refund.msg],
        ['amount', amountText(refund.refundAmount, answer.currency)],
        ['made', timeText(refund.refundTime)],
        ['ended', timeText(refund.completeTime)],
      ]),
    ]),
  ]
}
