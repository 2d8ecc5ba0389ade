import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFails } from '../../test/failure.ts'
import { railMessageSamples, railNotificationSamples } from '../../test/rail-vectors.ts'
import { parseRailMessage } from './messages.ts'
import { parseRailNotification } from './notifications.ts'

test('every message is read unchanged, and unknown fields are ignored', () => {
  for (const sample of Object.values(railMessageSamples)) {
    const sent = { ...sample, later: true }
    assert.deepEqual(parseRailMessage(JSON.stringify(sent)), sent)
  }
})

test('a message with a missing field or an unknown type is rejected with the field’s name', () => {
  const optional = ['description', 'reference', 'reason']
  for (const sample of Object.values(railMessageSamples)) {
    for (const field of Object.keys(sample).filter((name) => !optional.includes(name))) {
      const { [field]: _left, ...rest } = sample as Record<string, unknown>
      assertFails(() => parseRailMessage(JSON.stringify(rest)), 'invalid_field', field)
    }
  }
  assertFails(() => parseRailMessage('{"type":"payment.begin"}'), 'invalid_field', 'type')
  assertFails(() => parseRailMessage('[]'), 'invalid_field')
})

test('an amount that differs from its minor units is rejected', () => {
  const start = railMessageSamples['payment.start']
  const read = (changed: object) => parseRailMessage(JSON.stringify({ ...start, ...changed }))
  read({ amount: '1250', currency: 'JPY' })
  read({ amount: '1.250', currency: 'TND' })
  read({ amount: '90071992547409.93', amountMinor: '9007199254740993' })
  assertFails(() => read({ currency: 'JPY' }), 'amount_does_not_fit_currency', 'amount')
  assertFails(() => read({ amountMinor: '1251' }), 'amounts_do_not_add_up', 'amountMinor')
  assertFails(() => read({ amount: '1e3' }), 'invalid_field', 'amount')
  assertFails(() => read({ amountMinor: 1250 }), 'invalid_field', 'amountMinor')
})

test('a notification is read by its type, and its other fields are ignored', () => {
  for (const sample of railNotificationSamples)
    assert.deepEqual(parseRailNotification(JSON.stringify({ ...sample, status: 'approved' })), sample)
  assertFails(() => parseRailNotification('{"type":"payment.changed"}'), 'invalid_field', 'transactionId')
  assertFails(
    () => parseRailNotification('{"type":"refund.changed","refundId":7}'),
    'invalid_field',
    'refundId',
  )
  assertFails(() => parseRailNotification('{"type":"payment.start"}'), 'invalid_field', 'type')
})
