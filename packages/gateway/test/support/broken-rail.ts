// A rail with one fault: the test bank's books behind an HTTP server that does one thing wrong.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type CaptureMessage,
  makeWebhookSecret,
  parseCaptureMessage,
  parseDisputeMessage,
  parseRailMessage,
  type RailMessage,
  signRailResponse,
  verifyWebhook,
} from '@tillgate/protocol'
import { type Bank, makeBank } from '../../../../examples/rail/bank.ts'
import { bankSecret } from './test-bank.ts'

type Asked = RailMessage | CaptureMessage

export interface Fault {
  readonly name: string
  readonly isSilent?: true
  /** The check that must find it. */
  readonly foundBy: RegExp
  readonly isGenuine?: (headers: IncomingHttpHeaders, body: string) => boolean
  readonly answer?: (message: Asked, bank: Bank) => unknown
  /** What it says of every dispute; left out, it passes on none. */
  readonly disputes?: object
  /** The headers of its response. */
  readonly sign?: (headers: IncomingHttpHeaders, body: string, message: Asked) => object
  /** What the check says is wrong. */
  readonly found?: RegExp
}

const url = 'http://127.0.0.1:9'

/** What the bank would say, with something changed in it. */
const changed =
  (change: (answer: Record<string, unknown>, message: Asked, bank: Bank) => object) =>
  (message: Asked, bank: Bank) => {
    const answer = bank.answer(message)
    return { ...answer, ...change({ ...answer }, message, bank) }
  }

const verify = (headers: IncomingHttpHeaders, body: string, nowMs = Date.now()) =>
  verifyWebhook(headers, body, { secrets: [bankSecret], nowMs }) === 'genuine'

const sign = (headers: IncomingHttpHeaders, body: string, { nowMs = Date.now(), secret = bankSecret } = {}) =>
  signRailResponse({ 'webhook-id': 'none', ...headers }, body, { secrets: [secret], nowMs })

const anotherSecret = makeWebhookSecret((size) => Buffer.alloc(size, 8))
const minute = 60_000
const remembered = new Map<string, object>()

/** Refunds that are decided by a sum of ours, each id once. */
function refundsBy(
  mayRefund: (paid: string, given: readonly string[], asked: string) => boolean,
): (message: Asked, bank: Bank) => unknown {
  const given = new Map<string, { transactionId: string; amount: string }>()
  return (message, bank) => {
    if (message.type !== 'refund.start') return bank.answer(message)
    const paid = bank.payment(message.transactionId)
    const before = [...given.values()].filter(({ transactionId }) => transactionId === message.transactionId)
    const isFirst = !given.has(message.refundId)
    const amounts = before.map(({ amount }) => amount)
    if (paid?.status !== 'approved' || (isFirst && !mayRefund(paid.amount, amounts, message.amount)))
      return { status: 'declined', reason: 'More than what was paid.' }
    given.set(message.refundId, message)
    return { status: 'approved' }
  }
}

const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + Number(amount), 0)
const cents = (amount: string) => Math.trunc(Number(amount) * 100)
let references = 0

export const faults: readonly Fault[] = [
  {
    name: 'takes every signature',
    foundBy: /by another secret is rejected/,
    isGenuine: (headers) => headers['webhook-signature'] !== undefined,
  },
  {
    name: 'takes what is not signed',
    foundBy: /an unsigned message is rejected/,
    isGenuine: (headers, body) => headers['webhook-signature'] === undefined || verify(headers, body),
  },
  {
    name: 'never looks at the time of a signature',
    foundBy: /six minutes ago is rejected/,
    isGenuine: (headers, body) => verify(headers, body, Number(headers['webhook-timestamp']) * 1000),
  },
  {
    name: 'reads the first of several signatures only',
    foundBy: /one of several signatures is enough/,
    isGenuine: (headers, body) => {
      const [first = ''] = String(headers['webhook-signature']).split(' ')
      return verify({ ...headers, 'webhook-signature': first }, body)
    },
  },
  {
    name: 'makes a new payment of a repeated start',
    foundBy: /a repeated start is the same payment/,
    answer: changed((_answer, { type }) =>
      type === 'payment.start' ? { reference: `N-${++references}` } : {},
    ),
  },
  {
    name: 'declines what it never heard of',
    foundBy: /with an unknown id are unknown/,
    answer: changed(({ status }) => (status === 'unknown' ? { status: 'declined', reason: 'None.' } : {})),
  },
  {
    name: 'cancels what is paid',
    foundBy: /approved stays approved/,
    answer: changed((_answer, { type }) => (type === 'payment.cancel' ? { status: 'cancelled' } : {})),
  },
  {
    name: 'starts again what was cancelled',
    foundBy: /cancelled in time stays cancelled/,
    answer: changed(({ status }, { type }) =>
      status === 'cancelled' && type === 'payment.start'
        ? { status: 'pending', nextAction: { kind: 'redirect', url } }
        : {},
    ),
  },
  {
    name: 'adds refunds up as floating-point numbers',
    foundBy: /exact to the last minor unit.*EUR/,
    answer: refundsBy((paid, given, asked) => sum([...given, asked]) <= Number(paid)),
  },
  {
    name: 'cuts amounts down to cents',
    foundBy: /exact to the last minor unit.*EUR/,
    answer: refundsBy(
      (paid, given, asked) =>
        [...given, asked].reduce((total, each) => total + cents(each), 0) <= cents(paid),
    ),
  },
  {
    name: 'rounds every amount to two decimal places',
    foundBy: /exact to the last minor unit.*TND/,
    answer: refundsBy(
      (paid, given, asked) =>
        [...given, asked].reduce((total, each) => total + Math.round(Number(each) * 100), 0) <=
        Math.round(Number(paid) * 100),
    ),
  },
  {
    name: 'compares a refund with the payment, and not with the other refunds',
    foundBy: /never more than was paid/,
    answer: refundsBy((paid, _given, asked) => Number(asked) <= Number(paid)),
  },
  {
    name: 'declines a repeated refund',
    foundBy: /never more than was paid/,
    answer: (message, bank) =>
      message.type === 'refund.start' && bank.refund(message.refundId)
        ? { status: 'declined', reason: 'It was given back.' }
        : bank.answer(message),
  },
  {
    name: 'makes up a dispute',
    foundBy: /an unknown dispute is unknown/,
    disputes: { status: 'open', amountMinor: '100', currency: 'EUR' },
  },
  {
    name: 'approves without a reference',
    foundBy: /approved stays approved/,
    answer: changed(({ status }) => (status === 'approved' ? { reference: undefined } : {})),
  },
  {
    name: 'sends the consumer to a script',
    foundBy: /a repeated start is the same payment/,
    answer: changed(({ status }) =>
      status === 'pending' ? { nextAction: { kind: 'redirect', url: 'javascript:alert(1)' } } : {},
    ),
  },
  {
    name: 'answers more than anybody wants to read',
    foundBy: /with an unknown id are unknown/,
    answer: changed(() => ({ padding: ' '.repeat(300_000) })),
  },
  {
    name: 'does not sign its responses',
    foundBy: /every response is signed/,
    found: /^the response to payment\.cancel, .*, payment\.start, .*: not signed/,
    sign: () => ({}),
  },
  {
    name: 'does not sign its responses about refunds',
    foundBy: /every response is signed/,
    found: /^the response to refund\.start, refund\.status: not signed[^;]*$/,
    sign: (headers, body, { type }) => (type.startsWith('refund') ? {} : sign(headers, body)),
  },
  {
    name: 'signs its responses under ids of its own',
    foundBy: /every response is signed/,
    found: /payment\.start, .*: signed for another message/,
    sign: (_headers, body) => sign({ 'webhook-id': 'mine' }, body),
  },
  {
    name: 'sends the signature of its first response again',
    foundBy: /every response is signed/,
    found: /payment\.status.*: signed for another message/,
    sign: (headers, body) => {
      const before = remembered.get(body)
      if (!before) remembered.set(body, sign(headers, body))
      return before ?? sign(headers, body)
    },
  },
  {
    name: 'signs its responses with a clock that is six minutes slow',
    foundBy: /every response is signed/,
    found: /payment\.start, .*: signed more than five minutes before/,
    sign: (headers, body) => sign(headers, body, { nowMs: Date.now() - 6 * minute }),
  },
  {
    name: 'signs its responses with another secret',
    foundBy: /every response is signed/,
    found: /payment\.start, .*: wrong signature/,
    sign: (headers, body) => sign(headers, body, { secret: anotherSecret }),
  },
  {
    name: 'signs other bytes than it sends',
    foundBy: /every response is signed/,
    found: /: wrong signature/,
    sign: (headers, body) => sign(headers, `${body}\n`),
  },
  {
    name: 'captures more than is reserved',
    foundBy: /captured once by each id, and never beyond/,
    answer: changed((_answer, { type }) => (type === 'payment.capture' ? { status: 'approved' } : {})),
  },
  {
    name: 'captures a repeated capture again',
    foundBy: /captured once by each id, and never beyond/,
    answer: (message, bank) =>
      message.type === 'payment.capture'
        ? bank.answer({ ...message, captureId: `N${++references}` })
        : bank.answer(message),
  },
  {
    name: 'takes what it should reserve',
    foundBy: /captured once by each id, and never beyond/,
    answer: changed(({ status }) => (status === 'authorized' ? { status: 'approved' } : {})),
  },
  {
    name: 'keeps what is released',
    foundBy: /released is cancelled/,
    answer: (message, bank) =>
      bank.answer(message.type === 'payment.release' ? { ...message, type: 'payment.status' } : message),
  },
  {
    name: 'does not answer in time',
    isSilent: true,
    foundBy: /with an unknown id are unknown/,
    answer: (message, bank) => pause(3_000, bank.answer(message), { ref: false }),
  },
]

export async function openBrokenRail({ isGenuine = verify, answer, disputes, sign: signs }: Partial<Fault>) {
  const bank = makeBank({ url, now: Date.now, kept: [], keep: () => {} })
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
    if (parseDisputeMessage(body)) {
      if (!disputes) return response.writeHead(400).end()
      const told = JSON.stringify(disputes)
      const headers = { 'content-type': 'application/json', ...sign(request.headers, told) }
      return response.writeHead(200, headers).end(told)
    }
    const message = parseCaptureMessage(body) ?? parseRailMessage(body)
    const told = JSON.stringify(await (answer ? answer(message, bank) : bank.answer(message)))
    const signed = signs ? signs(request.headers, told, message) : sign(request.headers, told)
    const headers = { 'content-type': 'application/json', ...signed }
    response.writeHead(200, headers).end(told)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, bank }
}
