import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import * as ids from './ids.ts'
import { maxPaymentIdLength, maxRefundIdLength, maxTransactionIdLength } from './limits.ts'

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('ids have their form and length at any time', () => {
  fc.assert(
    fc.property(time, (nowMs) => {
      const paymentId = ids.makePaymentId(nowMs, randomBytes)
      const refundId = ids.makeRefundId(nowMs, randomBytes)
      const transactionId = ids.makeTransactionId(nowMs, randomBytes)
      assert.match(paymentId, ids.paymentIdPattern)
      assert.match(refundId, ids.refundIdPattern)
      assert.match(transactionId, ids.transactionIdPattern)
      assert.match(ids.makeCallbackId(nowMs, randomBytes), ids.uuidPattern)
      assert(paymentId.length <= maxPaymentIdLength && refundId.length <= maxRefundIdLength)
      assert(transactionId.length <= maxTransactionIdLength)
    }),
  )
})

test('a later id sorts after an earlier one', () => {
  const makers = [ids.makePaymentId, ids.makeRefundId, ids.makeTransactionId, ids.makeCallbackId]
  fc.assert(
    fc.property(time, time, (a, b) => {
      fc.pre(a < b)
      for (const make of makers) assert(make(a, randomBytes) < make(b, randomBytes))
    }),
  )
})

test('every random bit is part of the id', () => {
  const zero = (size: number) => new Uint8Array(size)
  for (let bit = 0; bit < 80; bit++) {
    const one = (size: number) => {
      const bytes = new Uint8Array(size)
      bytes[bit >> 3] = 1 << (bit & 7)
      return bytes
    }
    assert.notEqual(ids.makePaymentId(0, one), ids.makePaymentId(0, zero), `bit ${bit}`)
  }
})

test('a callback’s id is a version 7 UUID that starts with the time', () => {
  const id = ids.makeCallbackId(0x0123456789ab, (size) => new Uint8Array(size).fill(0xff))
  assert.equal(id, '01234567-89ab-7fff-bfff-ffffffffffff')
})

test('too few random bytes are a bug and throw', () => {
  assert.throws(() => ids.makePaymentId(0, () => new Uint8Array(3)), RangeError)
})
