import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFails } from '../../test/failure.ts'
import {
  parseCallbackBody,
  parseCancelBody,
  parseQueryBody,
  parseRefundBody,
  parseSandboxAdvanceBody,
  parseSandboxPayBody,
} from './requests.ts'

function refuses(parse: (text: string) => unknown, body: unknown, field?: string) {
  return assertFails(() => parse(JSON.stringify(body)), 'invalid_field', field)
}

test('a query names exactly one id', () => {
  assert.deepEqual(parseQueryBody('{"paymentId":"P1"}'), { field: 'paymentId', number: 'P1' })
  assert.deepEqual(parseQueryBody('{"orderNo":"A-1","paymentId":null}'), { field: 'orderNo', number: 'A-1' })
  assert.deepEqual(parseQueryBody('{"refundId":"R1"}'), { field: 'refundId', number: 'R1' })
  refuses(parseQueryBody, {}, 'paymentId')
  refuses(parseQueryBody, { paymentId: 'P1', orderNo: 'A-1' })
  refuses(parseQueryBody, { paymentId: 'x'.repeat(33) }, 'paymentId')
  refuses(parseQueryBody, { orderNo: 'x'.repeat(65) }, 'orderNo')
  refuses(parseQueryBody, { refundId: '' }, 'paymentId')
  refuses(parseQueryBody, { paymentId: 1 }, 'paymentId')
})

test('an id that is too long for its field is recognized as the merchant’s own number', () => {
  const long = 'x'.repeat(33)
  assert.match(refuses(parseQueryBody, { paymentId: long }, 'paymentId').message, /query it as orderNo/)
  assert.match(refuses(parseQueryBody, { refundId: long }, 'refundId').message, /lists its refunds/)
})

test('an id under a field name of a response or another operation is rejected with the correct name', () => {
  const message = (parse: (text: string) => unknown, body: object) =>
    refuses(parse, body, 'paymentId').message
  for (const [name, meant] of [
    ['referOrderNo', 'orderNo'],
    ['outOrderNo', 'orderNo'],
    ['payment_id', 'paymentId'],
  ] as const)
    assert.match(
      message(parseQueryBody, { [name]: 'A-1' }),
      new RegExp(`You sent ${name}: rename it to ${meant}\\.$`),
    )
  assert.match(
    message(parseQueryBody, { referRefundNo: 'B-1' }),
    /send the refundId from the response to refund/,
  )
  assert.match(
    message(parseQueryBody, { x: 1 }),
    /You sent x, which is not a field here\. You can send orderNo/,
  )
  for (const parse of [parseCancelBody, parseRefundBody, parseCallbackBody]) {
    assert.match(
      message(parse, { orderNo: 'A-1' }),
      /You sent orderNo, .* and a query by orderNo returns it\.$/,
    )
    assert.match(
      message(parse, { refundId: 'R1' }),
      /You sent refundId, .* and a query by refundId returns it\.$/,
    )
  }
})

test('cancel and callback take a paymentId and report ignored fields', () => {
  for (const parse of [parseCancelBody, parseCallbackBody]) {
    assert.deepEqual(parse('{"paymentId":"P1","why":"x"}'), {
      paymentId: 'P1',
      ignoredFields: [{ field: 'why' }],
    })
    refuses(parse, {}, 'paymentId')
    refuses(parse, { paymentId: 'x'.repeat(33) }, 'paymentId')
    refuses(parse, [])
  }
})

const refund = { paymentId: 'P1', referRefundNo: 'B-1', refundAmount: '12.50', refundReason: 'broken' }

test('a refund keeps its amount as text until the currency is known', () => {
  assert.deepEqual(parseRefundBody(JSON.stringify(refund)), refund)
  assert.deepEqual(parseRefundBody('{"paymentId":"P1","referRefundNo":"B-1","refundAmount":1.5}'), {
    paymentId: 'P1',
    referRefundNo: 'B-1',
    refundAmount: 1.5,
  })
})

test('a refund’s amount is a plain decimal above zero', () => {
  assert.match(
    refuses(parseRefundBody, { ...refund, refundAmount: 0.1 + 0.2 }, 'refundAmount').message,
    /Round it, because sums in floating point gain digits/,
  )
  for (const refundAmount of [0, '0.00', -1, '-1', '1e2', 'x', '', true, [], 0.1 + 0.2]) {
    refuses(parseRefundBody, { ...refund, refundAmount }, 'refundAmount')
  }
  for (const name of ['paymentId', 'referRefundNo', 'refundAmount']) {
    refuses(parseRefundBody, { ...refund, [name]: undefined }, name)
  }
})

test('a refund’s texts have maximum lengths', () => {
  parseRefundBody(
    JSON.stringify({ ...refund, referRefundNo: '界'.repeat(64), refundReason: '😀'.repeat(256) }),
  )
  refuses(parseRefundBody, { ...refund, referRefundNo: '界'.repeat(65) }, 'referRefundNo')
  refuses(parseRefundBody, { ...refund, refundReason: '😀'.repeat(257) }, 'refundReason')
  refuses(parseRefundBody, { ...refund, referRefundNo: '' }, 'referRefundNo')
  refuses(parseRefundBody, { ...refund, refundReason: 'a\nb' }, 'refundReason')
})

test('the sandbox pays with one of four outcomes', () => {
  assert.deepEqual(parseSandboxPayBody('{"paymentId":"P1","outcome":"failed"}'), {
    paymentId: 'P1',
    outcome: 'failed',
  })
  refuses(parseSandboxPayBody, { paymentId: 'P1', outcome: 'timeout' }, 'outcome')
  refuses(parseSandboxPayBody, { paymentId: 'P1' }, 'outcome')
  assert.deepEqual(parseSandboxPayBody('{"paymentId":"P1","rail":"bank"}'), { paymentId: 'P1', rail: 'bank' })
  refuses(parseSandboxPayBody, { paymentId: 'P1', rail: 'bank', outcome: 'failed' }, 'rail')
})

test('the sandbox advances by 1 ms to 30 days', () => {
  const day = 86_400_000
  for (const milliseconds of [1, '1', 30 * day]) {
    assert.equal(
      parseSandboxAdvanceBody(JSON.stringify({ paymentId: 'P1', milliseconds })).milliseconds,
      Number(milliseconds),
    )
  }
  for (const milliseconds of [0, -1, 1.5, 30 * day + 1, 'x']) {
    refuses(parseSandboxAdvanceBody, { paymentId: 'P1', milliseconds }, 'milliseconds')
  }
})
