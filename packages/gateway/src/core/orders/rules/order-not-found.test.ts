import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orderNotFound } from './order-not-found.ts'

test('a number of another kind is named with the field it belongs in', () => {
  const refundId = `R0${'1'.repeat(25)}`
  assert.match(orderNotFound(refundId).message, new RegExp(`${refundId}\\. .* query it as refundId`))
  assert.match(orderNotFound('A-1001').message, /paymentId A-1001\. .* query it as orderNo/)
})

test('a well-formed paymentId has the same error whether it never existed or is another merchant’s', () => {
  assert.equal(orderNotFound(`P0${'1'.repeat(25)}`).message, 'The payment order or refund does not exist.')
})
