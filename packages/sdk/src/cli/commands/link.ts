// till link: create, show and close payment links.
import type { LinkAnswer, LinkQueryAnswer, LinkUses } from '@tillgate/protocol'
import type { LinkReference, NewLink } from '../../links.ts'
import {
  type Command,
  type CommandInput,
  credentialsOption,
  exitCodes,
  jsonOption,
  requiredOption,
  textOption,
  UsageError,
} from '../command.ts'
import { parseDuration } from '../duration.ts'
import { randomNumber } from '../random-number.ts'
import { amountText, columns, paintStatus, type Terminal, timeText } from '../terminal.ts'

const acts = ['create', 'query', 'close'] as const

export const linkCommand: Command = {
  name: 'link',
  summary: 'create, query or close a payment link',
  positionals: ['create|query|close', '[linkId]'],
  choices: acts,
  options: {
    title: { type: 'string', value: 'TEXT', about: 'the purpose of the payment (create: required)' },
    currency: { type: 'string', value: 'CODE', about: 'ISO 4217 code, such as USD (create: required)' },
    amount: {
      type: 'string',
      value: 'AMOUNT',
      about: 'fixed amount; without it, the consumer enters one',
    },
    least: { type: 'string', value: 'AMOUNT', about: 'minimum amount that the consumer may enter' },
    most: { type: 'string', value: 'AMOUNT', about: 'maximum amount that the consumer may enter' },
    once: { type: 'boolean', about: 'accept a single payment' },
    'ends-in': {
      type: 'string',
      value: 'DURATION',
      about: 'the time until the link expires, such as 30d',
    },
    'link-no': { type: 'string', value: 'NUMBER', about: 'your number for the link; query accepts it too' },
    'callback-url': { type: 'string', value: 'URL', about: 'the URL for callbacks of its orders' },
    'redirect-url': { type: 'string', value: 'URL', about: 'where the consumer returns to' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: [
    'till link create --title "Invoice 17" --amount 120 --currency EUR --once',
    'till link create --title Donation --currency EUR --least 5 --most 500 --ends-in 30d',
    'till link query L01K73ZQ800JZ7V3N4Q5R6S7T8W',
    'till link close L01K73ZQ800JZ7V3N4Q5R6S7T8W',
  ],
  usesGateway: true,
  async run(input) {
    const { positionals, terminal, client } = input
    const [act, linkId] = positionals
    const { links } = client()
    switch (act) {
      case 'create': {
        if (linkId !== undefined)
          throw new UsageError('The gateway assigns the linkId. Use --link-no for your own number.')
        const made = await links.create(linkFrom(input))
        terminal.print(made, [
          ...describeLink(made, terminal),
          '',
          `Pay at ${terminal.paint('bold', made.linkUrl)}`,
        ])
        return exitCodes.done
      }
      case 'query': {
        const found = await links.query(referenceOf(input))
        terminal.print(found, [...describeLink(found, terminal), ...describeOrders(found, terminal)])
        return exitCodes.done
      }
      case 'close': {
        if (linkId === undefined) throw new UsageError('linkId is missing.')
        const closed = await links.close(linkId)
        terminal.print(closed, [`Link ${closed.linkId} is ${paintStatus(terminal, closed.status)}.`])
        return exitCodes.done
      }
      default:
        throw new UsageError(`Unknown action ${act}. Use create, query or close.`)
    }
  },
}

function linkFrom({ values, terminal }: CommandInput): NewLink {
  const given = (option: string, field: string) => {
    const value = textOption(values, option)
    return value === undefined ? {} : { [field]: value }
  }
  const endsIn = textOption(values, 'ends-in')
  const uses: LinkUses = values['once'] ? 'once' : 'many'
  return {
    linkNo: textOption(values, 'link-no') ?? randomNumber('link', terminal),
    title: requiredOption(values, 'title'),
    currency: requiredOption(values, 'currency'),
    uses,
    ...given('amount', 'amount'),
    ...given('least', 'leastAmount'),
    ...given('most', 'mostAmount'),
    ...(endsIn !== undefined && { linkExpiryTime: terminal.now() + parseDuration(endsIn) }),
    ...given('callback-url', 'callbackUrl'),
    ...given('redirect-url', 'redirectUrl'),
  }
}

function referenceOf({ positionals: [, linkId], values }: CommandInput): LinkReference {
  const linkNo = textOption(values, 'link-no')
  if (linkId !== undefined && linkNo === undefined) return { linkId }
  if (linkNo !== undefined && linkId === undefined) return { linkNo }
  throw new UsageError('Use either linkId or --link-no.')
}

function describeLink(link: LinkAnswer, terminal: Terminal): string[] {
  const { currency } = link
  const money = (value: LinkAnswer['amount']) =>
    value === undefined ? undefined : amountText(value, currency)
  return columns([
    ['linkId', link.linkId],
    ['linkNo', link.linkNo],
    ['status', paintStatus(terminal, link.status)],
    ['title', link.title],
    ['amount', money(link.amount) ?? 'entered by the consumer'],
    ['least', money(link.leastAmount)],
    ['most', money(link.mostAmount)],
    ['uses', link.uses],
    ['ends', timeText(link.linkExpiryTime)],
    ['payments', link.paidCount],
    ['paid', money(link.paidAmount)],
  ])
}

function describeOrders({ orders, currency }: LinkQueryAnswer, terminal: Terminal): string[] {
  if (orders.length === 0) return []
  return [
    '',
    ...orders.map(
      ({ paymentId, status, paymentAmount, paidTime }) =>
        `${paymentId}  ${paintStatus(terminal, status)}  ${amountText(paymentAmount, currency)}${paidTime === undefined ? '' : `  ${timeText(paidTime)}`}`,
    ),
  ]
}
