// till refund: a part of a payment, or the rest of it.
import { toDecimalText, toMinorUnits } from '@tillgate/protocol'
import { TillgateError } from '../../errors.ts'
import type { Tillgate } from '../../tillgate.ts'
import { type Command, credentialsOption, exitCodes, jsonOption, textOption, UsageError } from '../command.ts'
import { randomNumber } from '../random-number.ts'
import { amountText, columns, paintStatus } from '../terminal.ts'

export const refundCommand: Command = {
  name: 'refund',
  summary: 'refund a paid order, fully or in part',
  positionals: ['paymentId'],
  options: {
    amount: {
      type: 'string',
      value: 'AMOUNT',
      about: 'the amount, in the payment’s currency (this or --all is required)',
    },
    all: { type: 'boolean', about: 'the remaining amount of the payment' },
    'refund-no': {
      type: 'string',
      value: 'NUMBER',
      about: 'your number for the refund; default: a new one',
    },
    reason: { type: 'string', value: 'TEXT', about: 'the reason for the refund' },
    wait: { type: 'boolean', about: 'wait until the refund has a final status' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till refund P01K73ZQ800JZ7V3N4Q5R6S7T8W --amount 5.00 --wait'],
  usesGateway: true,
  async run({ positionals: [paymentId = ''], values, terminal, client }) {
    const amount = textOption(values, 'amount')
    if ((amount === undefined) === !values['all']) throw new UsageError('Use either --amount or --all.')
    const tillgate = client()
    const reason = textOption(values, 'reason')
    const refund = await tillgate.refunds.create({
      paymentId,
      referRefundNo: textOption(values, 'refund-no') ?? randomNumber('till-refund', terminal),
      refundAmount: amount ?? (await whatIsLeft(tillgate, paymentId)),
      ...(reason !== undefined && { refundReason: reason }),
    })
    const ended = values['wait'] ? await tillgate.refunds.waitUntilFinal(refund.refundId) : undefined
    const { status, msg } = { msg: '', ...refund, ...ended }
    terminal.print(
      { ...refund, ...ended },
      columns([
        ['refundId', refund.refundId],
        ['refundNo', refund.referRefundNo],
        ['status', paintStatus(terminal, status)],
        ['reason', msg],
        ['amount', amountText(refund.refundAmount, refund.currency)],
      ]),
    )
    return status === 'refund_failed' ? exitCodes.failed : exitCodes.done
  },
}

/** Failed refunds returned nothing. */
async function whatIsLeft({ orders }: Tillgate, paymentId: string): Promise<string> {
  const { payAmount, currency, refunds, paymentStatus } = await orders.query(paymentId)
  if (payAmount === undefined) throw new TillgateError(`The order is ${paymentStatus}: nothing was paid.`)
  const minor = (amount: number | string) => toMinorUnits(amount, currency, 'amount')
  const left = refunds
    .filter(({ status }) => status !== 'refund_failed')
    .reduce((rest, { refundAmount }) => rest - minor(refundAmount), minor(payAmount))
  if (left <= 0n) throw new TillgateError('Nothing is left to refund.')
  return toDecimalText(left, currency)
}
