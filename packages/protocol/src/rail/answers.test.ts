import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFails } from '../../test/failure.ts'
import { parseRailPaymentAnswer, parseRailRefundAnswer } from './answers.ts'

const started = (answer: unknown) => parseRailPaymentAnswer('payment.start', JSON.stringify(answer))
const redirect = { kind: 'redirect', url: 'https://bank.example.com/pay/1' }

test('every status is read with its fields, and others are ignored', () => {
  const common = { reference: 'B-1', checkAfterSeconds: 5 }
  const answers = [
    { status: 'pending', nextAction: redirect, ...common },
    { status: 'submitted', ...common },
    { status: 'approved', ...common },
    { status: 'declined', reason: 'No money', ...common },
    { status: 'cancelled', ...common },
  ]
  for (const answer of answers) assert.deepEqual(started({ ...answer, later: 1 }), answer)
  assert.deepEqual(started({ status: 'submitted', nextAction: redirect, reason: 'why' }), {
    status: 'submitted',
  })
  const refund = { status: 'declined', reason: 'Too old', ...common }
  assert.deepEqual(parseRailRefundAnswer('refund.start', JSON.stringify(refund)), refund)
})

test('every next action is read with its fields', () => {
  const actions = [
    redirect,
    { kind: 'qr', text: 'BCD\u00a0002' },
    { kind: 'qr', text: '000201', caption: 'Scan with your bank' },
    { kind: 'instructions', lines: [{ label: 'IBAN', value: 'DE89 3704 0044 0532 0130 00' }] },
  ]
  for (const nextAction of actions)
    assert.deepEqual(started({ status: 'pending', nextAction }), { status: 'pending', nextAction })
})

test('a status without its required fields is rejected', () => {
  assertFails(() => started({ status: 'pending' }), 'invalid_field', 'nextAction')
  assertFails(() => started({ status: 'approved' }), 'invalid_field', 'reference')
  assertFails(() => started({ status: 'declined' }), 'invalid_field', 'reason')
  for (const [kind, field] of [
    ['redirect', 'url'],
    ['qr', 'text'],
    ['instructions', 'lines'],
  ])
    assertFails(
      () => started({ status: 'pending', nextAction: { kind } }),
      'invalid_field',
      `nextAction.${field}`,
    )
  const nextAction = { kind: 'instructions', lines: [] }
  assertFails(() => started({ status: 'pending', nextAction }), 'invalid_field', 'nextAction.lines')
})

test('a consumer is only sent to web pages', () => {
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '//bank.example.com',
    'https://user:secret@bank.example.com/',
    'https://',
    'java\nscript:alert(1)',
  ]) {
    const nextAction = { kind: 'redirect', url }
    assertFails(() => started({ status: 'pending', nextAction }), 'invalid_field', 'nextAction.url')
  }
})

test('a status is only accepted for messages that allow it', () => {
  assertFails(() => started({ status: 'unknown' }), 'invalid_field', 'status')
  assertFails(() => started({ status: 'paid' }), 'invalid_field', 'status')
  const pending = JSON.stringify({ status: 'pending', nextAction: redirect })
  assertFails(() => parseRailPaymentAnswer('payment.cancel', pending), 'invalid_field', 'status')
  assert.deepEqual(parseRailPaymentAnswer('payment.status', '{"status":"unknown"}'), { status: 'unknown' })
  assertFails(() => parseRailRefundAnswer('refund.start', '{"status":"unknown"}'), 'invalid_field', 'status')
  assertFails(() => parseRailRefundAnswer('refund.status', '{"status":"pending"}'), 'invalid_field', 'status')
})

test('checkAfterSeconds is 1 to 86400 whole seconds', () => {
  const after = (checkAfterSeconds: unknown) => started({ status: 'submitted', checkAfterSeconds })
  assert.deepEqual(after(86_400), { status: 'submitted', checkAfterSeconds: 86_400 })
  for (const wrong of [0, 86_401, -1, 1.5, 'soon'])
    assertFails(() => after(wrong), 'invalid_field', 'checkAfterSeconds')
})
