import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFails } from '../test/failure.ts'
import {
  callbackStringToSign,
  parseCallbackEnvelope,
  parseRequestEnvelope,
  requestStringToSign,
} from './envelope.ts'
import { maxEnvelopeBytes } from './limits.ts'

const request = {
  merchantId: '123456789012345678',
  method: 'service.trade.create',
  sign: 'QUJD',
  timestamp: 1760000000000,
  body: 'QUJDRA==',
}

const callback = {
  id: '01234567-89ab-7fff-bfff-ffffffffffff',
  merchantId: '123456789012345678',
  eventName: 'payment.order.success',
  sign: 'QUJD',
  timestamp: '1760000000000',
  body: 'QUJDRA==',
}

function refuses(envelope: unknown, field?: string): string {
  const text = typeof envelope === 'string' ? envelope : JSON.stringify(envelope)
  return assertFails(() => parseRequestEnvelope(text), 'malformed_envelope', field).message
}

test('omitted and null fields get their defaults', () => {
  const defaults = { format: 'json', charset: 'utf-8', encryptType: 'AES', signType: 'RSA' }
  const expected = { ...request, ...defaults, timestamp: '1760000000000' }
  assert.deepEqual(parseRequestEnvelope(JSON.stringify(request)), expected)
  assert.deepEqual(parseRequestEnvelope(JSON.stringify({ ...request, ...defaults })), expected)
  assert.deepEqual(
    parseRequestEnvelope(JSON.stringify({ ...request, charset: null, signType: null })),
    expected,
  )
  assert.deepEqual(
    parseRequestEnvelope(
      JSON.stringify({ ...request, format: '', charset: '', encryptType: '', signType: '' }),
    ),
    expected,
  )
  assert.deepEqual(parseCallbackEnvelope(JSON.stringify(callback)), { ...callback, ...defaults })
})

test('a merchantId is 18 letters or digits', () => {
  for (const merchantId of ['123456789012345678', 'abcdefghijklmnopqr', 'M2o8xQ4ZpL0000aBc9'])
    assert.equal(parseRequestEnvelope(JSON.stringify({ ...request, merchantId })).merchantId, merchantId)
})

test('a timestamp is 13 digits, as a number or as text', () => {
  for (const timestamp of [1760000000000, '1760000000000', 9999999999999, 1000000000000]) {
    assert.equal(parseRequestEnvelope(JSON.stringify({ ...request, timestamp })).timestamp, String(timestamp))
  }
  for (const timestamp of [
    176000000000,
    17600000000000,
    '0760000000000',
    '176000000000',
    ' 1760000000000',
    -1760000000000,
    1760000000000.5,
    '1760000000000.0',
    true,
    {},
    '１760000000000',
  ]) {
    refuses({ ...request, timestamp }, 'timestamp')
  }
  refuses(JSON.stringify(request).replace('1760000000000', '1.76e12'), 'timestamp')
  refuses(JSON.stringify(request).replace('1760000000000', '1e400'), 'timestamp')
})

test('only the values of the specification are accepted', () => {
  const wrong = { format: 'xml', charset: 'utf8', encryptType: 'DES', signType: 'RSA2' }
  for (const [name, value] of Object.entries(wrong)) refuses({ ...request, [name]: value }, name)
  for (const name of Object.keys(wrong)) refuses({ ...request, [name]: 1 }, name)
})

test('a missing field is reported with its expected form', () => {
  for (const name of Object.keys(request)) {
    const message = refuses({ ...request, [name]: undefined }, name)
    assert.match(message, new RegExp(`^${name} is missing: it must be `))
  }
  for (const name of Object.keys(callback)) {
    const text = JSON.stringify({ ...callback, [name]: undefined })
    assertFails(() => parseCallbackEnvelope(text), 'malformed_envelope', name)
  }
})

test('an invalid field is reported by name', () => {
  for (const merchantId of [
    '12345678901234567',
    '1234567890123456789',
    '12345678901234567-',
    '12345678901234567é',
    '12345678901234567８',
    123456789012345,
  ]) {
    refuses({ ...request, merchantId }, 'merchantId')
  }
  for (const method of ['', 'a&b', 'service.trade.create&x=1', 'A.b', 'a..b', `a${'.b'.repeat(40)}`, 1]) {
    refuses({ ...request, method }, 'method')
  }
  for (const name of ['sign', 'body']) {
    for (const value of ['', 'QU-_', 'QUJD\n', 'QUJD&charset=utf-8', 'Q===', {}, 1])
      refuses({ ...request, [name]: value }, name)
  }
  for (const id of ['', '01234567-89AB-7fff-bfff-ffffffffffff', '0123456789ab7fffbfffffffffffffff']) {
    assertFails(() => parseCallbackEnvelope(JSON.stringify({ ...callback, id })), 'malformed_envelope', 'id')
  }
  const eventName = 'payment.order.success&id=1'
  assertFails(
    () => parseCallbackEnvelope(JSON.stringify({ ...callback, eventName })),
    'malformed_envelope',
    'eventName',
  )
})

const formOf: Record<string, string> = {
  id: 'a UUID in lower case',
  merchantId: '18 letters or digits',
  method: 'a dotted name in lower case of at most 64 characters, such as service.trade.create',
  eventName: 'a dotted name in lower case of at most 64 characters',
  sign: 'standard base64 with padding',
  timestamp: '13 digits: milliseconds since 1970-01-01 UTC',
  body: 'standard base64 with padding',
}

test('a missing field is reported with its form', () => {
  for (const [envelope, parse] of [
    [request, parseRequestEnvelope],
    [callback, parseCallbackEnvelope],
  ] as const)
    for (const name of Object.keys(envelope)) {
      const text = JSON.stringify({ ...envelope, [name]: undefined })
      const { message } = assertFails(() => parse(text), 'malformed_envelope', name)
      assert.equal(message, `${name} is missing: it must be ${formOf[name]}.`)
    }
})

test('a method name is lower-case words joined by dots, at most 64 characters', () => {
  for (const method of ['a', 'ab', 'ab.cd.ef', 'a'.repeat(64), `${'a'.repeat(31)}.${'b'.repeat(32)}`])
    assert.equal(parseRequestEnvelope(JSON.stringify({ ...request, method })).method, method)
  for (const method of [
    'a'.repeat(65),
    '.a',
    'a.',
    '1a',
    'a1',
    'a.1',
    ' a',
    'a ',
    'a\n',
    'a\n'.repeat(2),
    '=a',
    'a=',
  ])
    refuses({ ...request, method }, 'method')
})

test('base64 has only its alphabet and at most two padding characters', () => {
  for (const sign of ['QQ==', 'QUI=', '+/09azAZ'])
    assert.equal(parseRequestEnvelope(JSON.stringify({ ...request, sign })).sign, sign)
  for (const sign of [
    'Q',
    'QQ',
    'QUI',
    'QUJDR',
    '=',
    '==',
    '=QUJD',
    '-QUJD',
    ' QUJD',
    'QUJD ',
    'QU=JD',
    'QUJD-',
  ])
    refuses({ ...request, sign }, 'sign')
})

test('an unknown field is rejected by name', () => {
  assert.match(
    refuses({ ...request, version: '1' }, 'version'),
    /not a field of the envelope\. Remove it\. The fields are merchantId, method, .*, timestamp, body\.$/,
  )
  refuses({ ...request, 'a/b~c': 1 }, 'a/b~c')
  refuses({ ...request, ['x'.repeat(100_000)]: 1 }, `${'x'.repeat(128)}…`)
})

test('an error about a field uses the spelling that was sent', () => {
  const { merchantId, sign, ...rest } = request
  assert.match(
    refuses({ ...rest, sign, merchantID: merchantId }, 'merchantId'),
    /missing: .* You sent merchantID: rename it to merchantId\.$/,
  )
  assert.match(
    refuses({ ...rest, merchantId, signature: sign }, 'sign'),
    /missing: .* You sent signature: rename it to sign\.$/,
  )
  assert.match(refuses({ ...request, Timestamp: '1' }, 'Timestamp'), /Did you mean timestamp\?$/)
})

test('an error about a missing field suggests similar unknown fields', () => {
  const { body, sign, ...rest } = request
  assert.match(
    refuses({ ...rest, sign, data: body }, 'body'),
    /missing: .* You sent data: rename it to body\.$/,
  )
  assert.match(
    refuses({ ...rest, sign, x: body }, 'body'),
    /missing: .* You sent x, which is not a field here: rename it if it is your body\.$/,
  )
  assert.match(refuses({ ...rest, a: sign, b: body }, 'sign'), /You sent a, b, which are not fields here/)
})

test('an error about a time names the unit that was sent', () => {
  const sent = (timestamp: unknown) => refuses({ ...request, timestamp }, 'timestamp')
  assert.match(sent(1_760_000_000), /This is in seconds: multiply it by 1000\.$/)
  assert.match(sent('1760000000000000'), /send milliseconds\.$/)
  assert.match(sent('2026-01-31T12:00:00Z'), /This is a date as text: send its milliseconds\.$/)
  assert.match(sent(1_760_000_000_000.5), /Round it to whole milliseconds\.$/)
  assert.match(sent(1_760_000_000_000.123), /Round it to whole milliseconds\.$/)
  assert.match(sent(1_800_000), /This looks like a duration: send the time itself/)
})

test('an envelope that was serialized twice is recognized', () => {
  assert.match(
    refuses(JSON.stringify(JSON.stringify(request))),
    /must be a JSON object.* This is JSON inside a string/,
  )
})

test('an error about base64 names common mistakes', () => {
  const plain = JSON.stringify({ paymentId: 'P1' })
  assert.match(refuses({ ...request, body: plain }, 'body'), /This looks like JSON\. Encrypt it/)
  assert.match(refuses({ ...request, body: { paymentId: 'P1' } }, 'body'), /Encrypt the JSON/)
  assert.match(refuses({ ...request, sign: 'ab-d_f==' }, 'sign'), /This looks like base64url/)
  assert.match(refuses({ ...request, sign: 'QUJDRA' }, 'sign'), /keep the padding/)
  for (const hex of ['0f'.repeat(256), '0F'.repeat(256)])
    assert.match(
      refuses({ ...request, sign: hex }, 'sign'),
      /This looks like hex\. Encode the bytes as base64/,
    )
})

test('unknown fields of a callback are kept for the signature', () => {
  const { later } = parseCallbackEnvelope(
    JSON.stringify({ ...callback, sequence: '7', Zone: 'eu-1:a/b+c_d.e', n: null }),
  )
  assert.deepEqual(later, { sequence: '7', Zone: 'eu-1:a/b+c_d.e' })
  assert.equal('later' in parseCallbackEnvelope(JSON.stringify(callback)), false)
  for (const [name, value] of [
    ['sequence', '7&id=1'],
    ['sequence', 'a=b'],
    ['sequence', '"}'],
    ['sequence', 'é'],
    ['sequence', 7],
    ['sequence', true],
    ['sequence', {}],
    ['sequence', ['7']],
    ['a&b', '7'],
    ['a=b', '7'],
    ['1a', '7'],
    ['', '7'],
  ] as const) {
    const text = JSON.stringify({ ...callback, [name]: value })
    assertFails(() => parseCallbackEnvelope(text), 'malformed_envelope', name)
  }
  const long = JSON.stringify({ ...callback, ['x'.repeat(100_000)]: '1' })
  assertFails(() => parseCallbackEnvelope(long), 'malformed_envelope', `${'x'.repeat(64)}…`)
})

test('a body that is not a JSON object is rejected', () => {
  for (const text of [
    '',
    '[]',
    '"x"',
    '1',
    'null',
    '{',
    JSON.stringify(request).replace('{', '{"sign":"QUJD",'),
  ])
    refuses(text)
  refuses(JSON.stringify(request).replace('{', '{"__proto__":{"sign":"QUJD"},'))
})

test('an envelope over the limit is too large, whatever its content', () => {
  refuses('['.repeat(maxEnvelopeBytes))
  assertFails(() => parseRequestEnvelope('['.repeat(maxEnvelopeBytes + 1)), 'too_large')
  assertFails(() => parseCallbackEnvelope(' '.repeat(maxEnvelopeBytes + 1)), 'too_large')
})

test('the string to sign has every field except sign, sorted, with the plain body first', () => {
  const body = '{"a":"b&charset=gbk"}'
  assert.equal(
    requestStringToSign({ ...request, timestamp: '1760000000000' }, body),
    'body={"a":"b&charset=gbk"}&charset=utf-8&encryptType=AES&format=json&merchantId=123456789012345678&method=service.trade.create&signType=RSA&timestamp=1760000000000',
  )
  assert.equal(
    callbackStringToSign(callback, body),
    'body={"a":"b&charset=gbk"}&charset=utf-8&encryptType=AES&eventName=payment.order.success&format=json&id=01234567-89ab-7fff-bfff-ffffffffffff&merchantId=123456789012345678&signType=RSA&timestamp=1760000000000',
  )
  assert.equal(
    callbackStringToSign({ ...callback, later: { sequence: '7', attempt: '2' } }, body),
    'attempt=2&body={"a":"b&charset=gbk"}&charset=utf-8&encryptType=AES&eventName=payment.order.success&format=json&id=01234567-89ab-7fff-bfff-ffffffffffff&merchantId=123456789012345678&sequence=7&signType=RSA&timestamp=1760000000000',
  )
})
