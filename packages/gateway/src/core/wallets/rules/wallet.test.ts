import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPin, normaliseLogin, parseLogin, parseNewPin, weaknessOfPin } from './wallet.ts'

test('a phone number is one login, however it is written', () => {
  for (const text of ['+4915112345678', ' +49 151 1234-5678 ', '0049 (151) 12345678', '＋4915112345678']) {
    assert.equal(normaliseLogin(text), '+4915112345678', text)
  }
})

test('an email address is one login in any case', () => {
  assert.equal(normaliseLogin(' Ann.Lee@Example.ORG '), 'ann.lee@example.org')
})

test('any other text is not a login', () => {
  const long = `${'a'.repeat(250)}@x.org`
  for (const text of [
    '',
    '12345',
    '0151 1234567',
    '+0123456789',
    '+123456',
    '+1234567890123456',
    'ann',
    'a@b',
    long,
  ]) {
    assert.equal(normaliseLogin(text), undefined, text)
    assert.throws(() => parseLogin(text), { code: 40001 })
  }
})

test('a new PIN has 6 to 12 digits; shorter existing PINs stay valid', () => {
  for (const pin of ['246813', '135790864201']) assert.equal(parseNewPin(pin), pin)
  for (const pin of ['123', '1234567890123', '12a456', '１２３４５６', ' 123456', '123456\n']) {
    assert.equal(isPin(pin), false, JSON.stringify(pin))
    assert.throws(() => parseNewPin(pin), { code: 40001 })
  }
  for (const pin of ['1234', '12345']) {
    assert.equal(isPin(pin), true)
    assert.throws(() => parseNewPin(pin), { code: 40001 })
  }
})

test('a common PIN is rejected with the reason', () => {
  const weak = {
    repeated: ['000000', '121212', '123123', '11112222', '112211', '111222'],
    run: ['123456', '654321', '890123', '123321', '456789', '12345678'],
    date: ['241285', '122485', '851224', '24121985', '19851224', '010203'],
  } as const
  for (const [weakness, pins] of Object.entries(weak))
    for (const pin of pins) {
      assert.equal(weaknessOfPin(pin), weakness, pin)
      assert.throws(() => parseNewPin(pin), { code: 40001 }, pin)
    }
  for (const pin of ['246810', '135790', '482951', '998271', '320199', '4071853692'])
    assert.equal(weaknessOfPin(pin), undefined, pin)
})

test('a new wallet’s login must not look like another login', () => {
  assert.equal(parseLogin('Carl@Home.Example'), 'carl@home.example')
  // The a is Cyrillic.
  assert.throws(() => parseLogin('c\u0430rl@home.example'), { code: 40001 })
})
