// till cancel and till resend: one action on one order.
import { type Command, credentialsOption, exitCodes, jsonOption } from '../command.ts'
import { paintStatus } from '../terminal.ts'

export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'cancel a pending payment order',
  positionals: ['paymentId'],
  options: { ...credentialsOption, ...jsonOption },
  examples: ['till cancel P01K73ZQ800JZ7V3N4Q5R6S7T8W'],
  usesGateway: true,
  async run({ positionals: [paymentId = ''], terminal, client }) {
    const cancelled = await client().orders.cancel(paymentId)
    terminal.print(cancelled, [`Order ${cancelled.paymentId} is ${paintStatus(terminal, cancelled.status)}.`])
    return exitCodes.done
  },
}

export const resendCommand: Command = {
  name: 'resend',
  summary: 'resend an order’s callbacks',
  positionals: ['paymentId'],
  options: { ...credentialsOption, ...jsonOption },
  examples: ['till resend P01K73ZQ800JZ7V3N4Q5R6S7T8W'],
  usesGateway: true,
  async run({ positionals: [paymentId = ''], terminal, client }) {
    const answer = await client().callbacks.resend(paymentId)
    terminal.print(answer, [
      `${answer.queued} ${answer.queued === 1 ? 'callback' : 'callbacks'} will be resent.`,
      ...(answer.warnings ?? []).map(({ msg }) => msg),
    ])
    return exitCodes.done
  },
}
