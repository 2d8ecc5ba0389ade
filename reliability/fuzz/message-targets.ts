// What reads messages, in this process: the envelopes of both directions, every body, and the answers of both sides.
// Whatever comes in, the outcome is a value or an error of the catalog, and nothing opens that nobody sealed.
import assert from 'node:assert/strict'
import {
  Failure,
  type Method,
  openRequest,
  parseAnswer,
  parseBillBody,
  parseCallbackBody,
  parseCallbackResult,
  parseCancelBody,
  parseCaptureBody,
  parseCreateBody,
  parseLinkCloseBody,
  parseLinkCreateBody,
  parseLinkQueryBody,
  parseOrderListBody,
  parseQueryBody,
  parseRefundBody,
  parseReleaseBody,
  parseRequestEnvelope,
  parseSandboxAcknowledgeBody,
  parseSandboxAdvanceBody,
  parseSandboxListenBody,
  parseSandboxPayBody,
  parseSandboxRequestsBody,
  parseScanBody,
  sealCallback,
  sealRequest,
} from '@tillgate/protocol'
import { fullCreateBody, smallCreateBody } from '../../packages/protocol/test/bodies.ts'
import {
  aesKey,
  openingKeys,
  otherAesKey,
  otherPair,
  pair,
  sealingKeys,
} from '../../packages/protocol/test/keys.ts'
import { unwrap } from '../../packages/sdk/src/callbacks/unwrap.ts'
import type { Keyring } from '../../packages/sdk/src/credentials.ts'
import { CallbackVerificationError } from '../../packages/sdk/src/errors.ts'
import type { Target } from './guided.ts'

const merchantId = '123456789012345678'
const timestamp = 1_760_000_000_000
const paymentId = 'P01K73ZQ800JZ7V3N4Q5R6S7T8W'
const linkId = 'L01K73ZQ800JZ7V3N4Q5R6S7T8W'
const uuid = '01234567-89ab-7fff-bfff-ffffffffffff'

const result = {
  merchantId,
  paymentId,
  referOrderNo: 'A-1',
  outOrderNo: 'A-1',
  transactionId: 'T1',
  paymentAmount: 12.5,
  currency: 'USD',
  paymentTime: timestamp,
  completeTime: timestamp,
  paidTime: timestamp,
  status: 'success',
}
const refundResult = {
  merchantId,
  refundId: 'R1',
  paymentId,
  referRefundNo: 'R-1',
  refundAmount: '1.50',
  currency: 'USD',
  refundTime: timestamp,
  completeTime: timestamp,
  status: 'refund_failed',
  msg: 'no',
}

/** Of each method, what reads its body and bodies that are right. */
export const bodies: Readonly<
  Record<Method, { parse: (text: string) => unknown; right: readonly object[] }>
> = {
  'service.trade.create': { parse: parseCreateBody, right: [fullCreateBody(), smallCreateBody()] },
  'service.trade.query': {
    parse: parseQueryBody,
    right: [{ paymentId }, { orderNo: 'A-1' }, { refundId: 'R1' }],
  },
  'service.trade.cancel': { parse: parseCancelBody, right: [{ paymentId }] },
  'service.trade.refund': {
    parse: parseRefundBody,
    right: [{ paymentId, referRefundNo: 'R-1', refundAmount: '1.50', refundReason: 'too small' }],
  },
  'service.trade.callback': { parse: parseCallbackBody, right: [{ paymentId }] },
  'service.order.list': {
    parse: parseOrderListBody,
    right: [
      {},
      { since: 1760000000000, until: '1760000000001', status: 'success', cursor: paymentId, limit: 1 },
    ],
  },
  'service.order.capture': {
    parse: parseCaptureBody,
    right: [
      { paymentId, referCaptureNo: 'C-1' },
      { orderNo: 'A-1', referCaptureNo: 'C-2', amount: '1.50', final: true },
    ],
  },
  'service.order.scan': {
    parse: parseScanBody,
    right: [{ code: '4015 2210 9933 8457', orderNo: 'A-1', amount: '4.20', currency: 'EUR' }],
  },
  'service.order.release': { parse: parseReleaseBody, right: [{ paymentId }, { orderNo: 'A-1' }] },
  'service.bill.get': { parse: parseBillBody, right: [{ date: '2026-11-16' }] },
  'service.link.create': {
    parse: parseLinkCreateBody,
    right: [
      { linkNo: 'n', title: 'Tea', currency: 'EUR', amount: '5.00', uses: 'once', paymentMinutes: 5 },
      {
        linkNo: 'n',
        title: 'Tea',
        currency: 'JPY',
        leastAmount: 5,
        mostAmount: 10,
        linkExpiryTime: 1760000000000,
      },
    ],
  },
  'service.link.query': { parse: parseLinkQueryBody, right: [{ linkId }, { linkNo: 'n' }] },
  'service.link.close': { parse: parseLinkCloseBody, right: [{ linkId }] },
  'service.sandbox.pay': { parse: parseSandboxPayBody, right: [{ paymentId, outcome: 'success' }] },
  'service.sandbox.advance': { parse: parseSandboxAdvanceBody, right: [{ paymentId, milliseconds: 60_000 }] },
  'service.sandbox.listen': { parse: parseSandboxListenBody, right: [{}, { after: 'x', waitMs: 10 }] },
  'service.sandbox.acknowledge': {
    parse: parseSandboxAcknowledgeBody,
    right: [{ callbackId: uuid, forwardedTo: 'http://127.0.0.1:9/', durationMs: 12, answer: 'ok' }],
  },
  'service.sandbox.requests': { parse: parseSandboxRequestsBody, right: [{}, { requestId: 'x', limit: 5 }] },
}

export async function messageTargets(): Promise<Target[]> {
  const results: Reading[] = [
    {
      name: 'result of a payment',
      parse: (text) => parseCallbackResult('payment.order.success', text),
      right: [result],
    },
    {
      name: 'result of a refund',
      parse: (text) => parseCallbackResult('payment.refund.failed', text),
      right: [refundResult],
    },
  ]
  const answers = [
    { code: 20000, msg: 'SUCCESS', data: { paymentId } },
    { code: '40001', msg: 'no' },
  ]
  return [
    await requestEnvelope(),
    await callbackEnvelope(),
    ...Object.entries(bodies).map(([method, body]) => reading({ name: `body of ${method}`, ...body })),
    ...results.map(reading),
    reading({ name: 'answer of the gateway', parse: parseAnswer, right: answers }),
  ]
}

async function requestEnvelope(): Promise<Target> {
  const plain = ['{"paymentId":"P1"}', JSON.stringify(fullCreateBody()), '']
  const sealed = await Promise.all(
    plain.map((body) =>
      sealRequest({ merchantId, method: 'service.trade.query', timestamp, body }, sealingKeys),
    ),
  )
  const keys = { aesKeys: [otherAesKey, aesKey], publicKeys: [otherPair.publicKey, pair.publicKey] }
  return {
    name: 'request-envelope',
    seeds: sealed.map(toBytes),
    async run(input) {
      let envelope: ReturnType<typeof parseRequestEnvelope>
      try {
        envelope = parseRequestEnvelope(input.toString())
      } catch (error) {
        return nameOf(error, ['malformed_envelope', 'too_large'])
      }
      for (const each of [keys, openingKeys]) {
        const opened = await openRequest(envelope, each)
        assert(opened === undefined || plain.includes(opened), 'something opened that nobody sealed')
        if (opened === undefined) return 'not opened'
      }
      assert.equal(await openRequest(envelope, undefined), undefined, 'an unknown merchant’s envelope opened')
      return 'opened'
    },
  }
}

async function callbackEnvelope(): Promise<Target> {
  const results = [
    { eventName: 'payment.order.success', body: JSON.stringify(result) },
    { eventName: 'payment.order.newer', body: '{"a":[1]}' },
    { eventName: 'payment.order.failed', body: '[]' },
  ]
  const sealed = await Promise.all(
    results.map((each) => sealCallback({ id: uuid, merchantId, timestamp, ...each }, sealingKeys)),
  )
  const keyring: Keyring = {
    gatewayUrl: new URL('http://127.0.0.1'),
    merchantId,
    aesKeys: [aesKey],
    privateKey: pair.privateKey,
    platformPublicKeys: [pair.publicKey],
  }
  return {
    name: 'callback-envelope',
    seeds: sealed.map(toBytes),
    async run(input) {
      try {
        const event = await unwrap(input, { keyring, now: () => timestamp, maxAgeMs: 1_000 })
        assert(
          results.some(({ eventName }) => eventName === event.eventName),
          'an event that nobody sent',
        )
        return event.kind
      } catch (error) {
        if (!(error instanceof CallbackVerificationError)) throw error
        return error.reason
      }
    },
  }
}

export interface Reading {
  readonly name: string
  readonly parse: (text: string) => unknown
  readonly right: readonly object[]
}

export function reading({ name, parse, right }: Reading): Target {
  return {
    name,
    seeds: right.map(toBytes),
    async run(input) {
      try {
        parse(input.toString())
        return 'taken'
      } catch (error) {
        return nameOf(error, refusalsOfABody)
      }
    },
  }
}

/** What the reading of a body alone may say. */
export const refusalsOfABody: readonly string[] = [
  'invalid_field',
  'amount_does_not_fit_currency',
  'amounts_do_not_add_up',
  'times_out_of_range',
]

function nameOf(error: unknown, allowed: readonly string[]): string {
  if (!(error instanceof Failure)) throw error
  assert(allowed.includes(error.failure), `refused as ${error.failure}`)
  assert(
    error.message.length > 0 && error.message.length < 2_000,
    'a refusal says what to change, in a few words',
  )
  return error.failure
}

function toBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
