// till scan: a payment by the code that a consumer's wallet shows.
import { type Command, credentialsOption, exitCodes, jsonOption, textOption } from '../command.ts'
import { randomNumber } from '../random-number.ts'
import { amountText, columns, paintStatus } from '../terminal.ts'

export const scanCommand: Command = {
  name: 'scan',
  summary: 'charge the wallet whose code the consumer shows',
  positionals: ['code'],
  options: {
    amount: { type: 'string', value: 'AMOUNT', about: 'the amount; default: 4.20' },
    currency: { type: 'string', value: 'CODE', about: 'the currency; default: EUR' },
    'order-no': { type: 'string', value: 'NUMBER', about: 'your number; default: a new one' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till scan "4015 2210 9933 8457" --amount 4.20 --currency EUR'],
  usesGateway: true,
  async run({ positionals: [code = ''], values, terminal, client }) {
    const answer = await client().orders.scan({
      code,
      orderNo: textOption(values, 'order-no') ?? randomNumber('till-scan', terminal),
      amount: textOption(values, 'amount') ?? '4.20',
      currency: textOption(values, 'currency') ?? 'EUR',
    })
    terminal.print(
      answer,
      columns([
        ['paymentId', answer.paymentId],
        ['orderNo', answer.referOrderNo],
        ['status', paintStatus(terminal, answer.status)],
        ['amount', amountText(answer.paymentAmount, answer.currency)],
      ]),
    )
    return exitCodes.done
  },
}
