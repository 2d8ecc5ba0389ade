// till capture and till release: the money of an order that the consumer has authorized.
import type { CaptureAnswer, ReleaseAnswer } from '@tillgate/protocol'
import { type Command, credentialsOption, exitCodes, jsonOption, textOption } from '../command.ts'
import { randomNumber } from '../random-number.ts'
import { amountText, columns, paintStatus, type Terminal } from '../terminal.ts'

export const captureCommand: Command = {
  name: 'capture',
  summary: 'capture an authorized order, fully or in part',
  positionals: ['paymentId'],
  options: {
    amount: { type: 'string', value: 'AMOUNT', about: 'the amount; default: all that remains' },
    'capture-no': {
      type: 'string',
      value: 'NUMBER',
      about: 'your number for the capture; default: a new one',
    },
    final: { type: 'boolean', about: 'release the rest' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till capture P01K73ZQ800JZ7V3N4Q5R6S7T8W --amount 20.00 --final'],
  usesGateway: true,
  async run({ positionals: [paymentId = ''], values, terminal, client }) {
    const amount = textOption(values, 'amount')
    const captured = await client().orders.capture({
      paymentId,
      referCaptureNo: textOption(values, 'capture-no') ?? randomNumber('till-capture', terminal),
      ...(amount !== undefined && { amount }),
      ...(values['final'] === true && { final: true }),
    })
    show(terminal, captured)
    return exitCodes.done
  },
}

export const releaseCommand: Command = {
  name: 'release',
  summary: 'release what is authorized and not captured',
  positionals: ['paymentId'],
  options: { ...credentialsOption, ...jsonOption },
  examples: ['till release P01K73ZQ800JZ7V3N4Q5R6S7T8W'],
  usesGateway: true,
  async run({ positionals: [paymentId = ''], terminal, client }) {
    show(terminal, await client().orders.release(paymentId))
    return exitCodes.done
  },
}

function show(terminal: Terminal, answer: CaptureAnswer | ReleaseAnswer): void {
  terminal.print(
    answer,
    columns([
      ['paymentId', answer.paymentId],
      ['status', paintStatus(terminal, answer.status)],
      ['authorized', amountText(answer.authorizedAmount, answer.currency)],
      ['captured', amountText(answer.capturedAmount, answer.currency)],
      ['remaining', amountText(answer.remainingAmount, answer.currency)],
    ]),
  )
}
