// till trigger and till advance: functions of gateways in sandbox mode.
import { type EventName, eventNames, isEventName } from '@tillgate/protocol'
import { TillgateError } from '../../errors.ts'
import { defaultExpiryMs } from '../../orders.ts'
import type { Tillgate } from '../../tillgate.ts'
import { type Command, credentialsOption, exitCodes, jsonOption, textOption, UsageError } from '../command.ts'
import { parseDuration } from '../duration.ts'
import { randomNumber } from '../random-number.ts'
import { paintStatus, type Terminal } from '../terminal.ts'
import { orderFrom, orderOptions } from './create.ts'
import { describeOrder } from './query.ts'

const { 'expires-in': _, ...triggerOptions } = orderOptions
const secondPastExpiryMs = 1000

export const triggerCommand: Command = {
  name: 'trigger',
  summary: 'create a sandbox order and trigger an event',
  positionals: ['event'],
  choices: eventNames,
  options: {
    ...triggerOptions,
    rail: {
      type: 'string',
      value: 'ID',
      about: 'pay through this rail: prints the next step and waits for the event',
    },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till trigger payment.order.success --callback-url http://localhost:3000/callbacks'],
  usesGateway: true,
  async run({ positionals: [event = ''], values, terminal, client }) {
    if (!isEventName(event))
      throw new UsageError(`Unknown event ${event}. Use one of ${eventNames.join(', ')}.`)
    const amount = textOption(values, 'amount') ?? '10'
    const currency = textOption(values, 'currency') ?? 'USD'
    const tillgate = client()
    const created = await tillgate.orders.create(orderFrom({ ...values, amount, currency }, terminal))
    const { paymentId } = created
    terminal.note(`Order ${paymentId} was created.`)
    for (const { msg } of created.warnings ?? []) terminal.note(msg)
    const rail = textOption(values, 'rail')
    await bring({ tillgate, terminal, event, paymentId, amount, rail, checkoutUrl: created.checkoutUrl })
    const answer = await tillgate.orders.query(paymentId)
    terminal.print({ event, ...answer }, describeOrder(answer, terminal))
    return exitCodes.done
  },
}

interface Bringing {
  readonly tillgate: Tillgate
  readonly terminal: Terminal
  readonly event: EventName
  readonly paymentId: string
  readonly amount: string
  readonly rail: string | undefined
  readonly checkoutUrl: string
}

async function bring(parts: Bringing): Promise<void> {
  const { tillgate, event, paymentId, rail } = parts
  const { sandbox } = tillgate
  if (rail !== undefined && event.startsWith('payment.order.') && event !== 'payment.order.timeout')
    return bringThrough(rail, parts)
  switch (event) {
    case 'payment.order.confirming':
      await sandbox.pay({ paymentId, outcome: 'confirming' })
      return
    case 'payment.order.success':
      await sandbox.pay({ paymentId, outcome: 'success' })
      return expectStatus(parts, 'success')
    case 'payment.order.failed':
      await sandbox.pay({ paymentId, outcome: 'failed' })
      return expectStatus(parts, 'failed')
    case 'payment.order.timeout':
      await sandbox.advance({ paymentId, milliseconds: defaultExpiryMs + secondPastExpiryMs })
      return expectStatus(parts, 'timeout')
    case 'payment.refund.success':
      await sandbox.pay({ paymentId, outcome: 'success' })
      await expectStatus(parts, 'success')
      return refundAndExpect(parts, 'refund_success')
    case 'payment.refund.failed':
      await sandbox.pay({ paymentId, outcome: 'refund_fails' })
      await expectStatus(parts, 'success')
      return refundAndExpect(parts, 'refund_failed')
  }
}

/** The rail, or a person at the rail, decides the result, so the command waits for the event's status. */
async function bringThrough(rail: string, parts: Bringing): Promise<void> {
  const { tillgate, terminal, event, paymentId } = parts
  const { nextAction } = await tillgate.sandbox.pay({ paymentId, rail })
  if (nextAction?.kind === 'redirect') terminal.note(`Continue at ${nextAction.url}`)
  if (nextAction?.kind === 'qr') terminal.note(`Scan this code: ${nextAction.text}`)
  for (const { label, value } of nextAction?.lines ?? []) terminal.note(`${label}: ${value}`)
  if (event !== 'payment.order.confirming') await expectStatus(parts, event.replace('payment.order.', ''))
}

async function expectStatus({ tillgate, paymentId }: Bringing, expected: string): Promise<void> {
  const { paymentStatus, msg } = await tillgate.orders.waitUntilFinal(paymentId)
  if (paymentStatus !== expected) {
    throw new TillgateError(`The order is ${paymentStatus} instead of ${expected}. ${msg}`.trim())
  }
}

async function refundAndExpect(parts: Bringing, expected: string): Promise<void> {
  const { tillgate, terminal, paymentId, amount } = parts
  const referRefundNo = randomNumber('till-refund', terminal)
  const { refundId } = await tillgate.refunds.create({ paymentId, referRefundNo, refundAmount: amount })
  const { status, msg } = await tillgate.refunds.waitUntilFinal(refundId)
  if (status !== expected)
    throw new TillgateError(`The refund is ${status} instead of ${expected}. ${msg}`.trim())
}

export const advanceCommand: Command = {
  name: 'advance',
  summary: 'move a sandbox order’s clock forward, for its expiry and callback retries',
  positionals: ['paymentId', 'duration'],
  options: { ...credentialsOption, ...jsonOption },
  examples: ['till advance P01K73ZQ800JZ7V3N4Q5R6S7T8W 2d'],
  usesGateway: true,
  async run({ positionals: [paymentId = '', duration = ''], terminal, client }) {
    const answer = await client().sandbox.advance({ paymentId, milliseconds: parseDuration(duration) })
    terminal.print(answer, [
      `Advanced order ${paymentId} by ${duration}; it is ${paintStatus(terminal, answer.status)}.`,
    ])
    return exitCodes.done
  },
}
