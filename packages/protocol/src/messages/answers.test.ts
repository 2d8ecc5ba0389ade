import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFails } from '../../test/failure.ts'
import { Failure } from '../codes.ts'
import { callbackAcknowledgement, failureAnswer, parseAnswer, successAnswer } from './answers.ts'
import { parseCallbackResult } from './results.ts'

test('a success has 20000, SUCCESS and the data', () => {
  assert.deepEqual(successAnswer({ a: 1 }), { code: 20000, msg: 'SUCCESS', data: { a: 1 } })
  assert.deepEqual(callbackAcknowledgement, { code: 20000, msg: '' })
})

test('a failure has its code, message, field and requestId', () => {
  const failure = new Failure('invalid_field', { field: 'order.orderNo', message: 'no' })
  assert.deepEqual(failureAnswer(failure, 'r1'), {
    code: 40001,
    msg: 'no',
    data: { field: 'order.orderNo', requestId: 'r1' },
  })
  assert.deepEqual(failureAnswer(new Failure('internal'), 'r1').data, { requestId: 'r1' })
})

test('a response is read with its code as a number or digits, with or without data', () => {
  assert.deepEqual(parseAnswer('{"code":20000,"msg":"SUCCESS","data":{"a":1},"more":1}'), {
    code: 20000,
    msg: 'SUCCESS',
    data: { a: 1 },
  })
  assert.deepEqual(parseAnswer('{"code":"40400","msg":"","data":null}'), { code: 40400, msg: '', data: {} })
  for (const text of [
    '',
    '<html>',
    '{}',
    '{"code":"x","msg":""}',
    '{"code":20000}',
    '{"code":20000,"msg":"","data":[]}',
  ]) {
    assert.throws(() => parseAnswer(text), Failure)
  }
})

const payment = {
  merchantId: '123456789012345678',
  paymentId: 'P1',
  referOrderNo: 'A-1',
  outOrderNo: 'A-1',
  transactionId: 'T1',
  paymentAmount: 10.5,
  currency: 'USD',
  paymentTime: 1760000000000,
  completeTime: 1760000001000,
  paidTime: 1760000001000,
  status: 'success',
  msg: '',
}

const refund = {
  merchantId: '123456789012345678',
  refundId: 'R1',
  paymentId: 'P1',
  referRefundNo: 'B-1',
  refundAmount: '123456789012345.67',
  currency: 'USD',
  refundTime: 1760000000000,
  status: 'refund_failed',
  msg: 'Too little money in the merchant’s wallet.',
}

test('a callback’s result is read according to the event of its envelope', () => {
  assert.deepEqual(parseCallbackResult('payment.order.success', JSON.stringify(payment)), {
    kind: 'order',
    eventName: 'payment.order.success',
    result: payment,
  })
  assert.deepEqual(parseCallbackResult('payment.refund.failed', JSON.stringify(refund)), {
    kind: 'refund',
    eventName: 'payment.refund.failed',
    result: refund,
  })
})

test('a result with an invalid form or an unknown event is rejected', () => {
  assertFails(
    () => parseCallbackResult('payment.order.success', JSON.stringify(refund)),
    'invalid_field',
    'referOrderNo',
  )
  assertFails(
    () => parseCallbackResult('payment.refund.failed', JSON.stringify(payment)),
    'invalid_field',
    'refundId',
  )
  assertFails(() => parseCallbackResult('payment.order.lost', '{}'), 'invalid_field', 'eventName')
  const odd = JSON.stringify({ ...payment, status: 'paid' })
  assertFails(() => parseCallbackResult('payment.order.success', odd), 'invalid_field', 'status')
})
