import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currencies } from '@tillgate/protocol'
import { array, assert as check, property, string } from 'fast-check'
import {
  addressInEmvCode,
  checksum,
  type EmvPayment,
  emvCode,
  numericCode,
  payAddress,
  readFields,
} from './emv-code.ts'

const payment: EmvPayment = {
  url: 'https://pay.example/l/L5K8Q2M7R4T9W1X3',
  initiation: 'dynamic',
  merchantName: 'Corner Shop',
  place: { country: 'DE', city: 'Berlin' },
  currency: 'EUR',
  amountMinor: 1_250n,
  number: 'A-1001',
}

/** The example of the specification, in Chinese as well. */
const published =
  '00020101021229300012D156000000000510A93FO3230Q31280012D15600000001030812345678520441115802CN5914BEST TRANSPORT6007BEIJING64200002ZH0104最佳运输0202北京540523.7253031565502016233030412340603***0708A60086670902ME91320016A0112233449988770708123456786304A13A'

test('the checksum is the specification’s', () => {
  assert.equal(checksum('123456789'), '29B1')
  assert.equal(checksum(published.slice(0, -4)), 'A13A')
})

test('the published example is read by characters, and names another network', () => {
  const fields = readFields(published)
  assert.equal(fields?.get('59'), 'BEST TRANSPORT')
  assert.equal(readFields(fields?.get('64') ?? '')?.get('01'), '最佳运输')
  assert.equal(addressInEmvCode(published), undefined)
})

test('a payment is one fixed text', () => {
  assert.equal(
    emvCode(payment),
    '00020101021226780032' +
      '6f1d0c5a94f84b7e9a3a54494c4c4741' +
      '0138https://pay.example/l/L5K8Q2M7R4T9W1X3' +
      '520400005303978540512.505802DE5911Corner Shop6006Berlin62100506A-1001' +
      '6304' +
      checksum(emvCode(payment).slice(0, -4)),
  )
  assert.equal(
    readFields(emvCode({ ...payment, initiation: 'static', amountMinor: undefined }))?.get('01'),
    '11',
  )
})

test('a long address is spread over fields of at most 99 characters, and comes back whole', () => {
  check(
    property(
      array(string({ minLength: 1, unit: 'grapheme-ascii' }), { maxLength: 20 }),
      string(),
      (parts, name) => {
        const url = `https://pay.example/checkout/${parts.join('')}`
        const code = emvCode({ ...payment, url, merchantName: name })
        assert.equal(addressInEmvCode(code), url)
        for (const value of readFields(code)?.values() ?? [assert.fail()]) assert.ok(value.length <= 99)
      },
    ),
  )
})

test('a name in other letters stands in the field for other languages, and its plain letters in the common one', () => {
  const fields = readFields(emvCode({ ...payment, merchantName: 'Café Zoë 北' }))
  assert.equal(fields?.get('59'), 'Cafe Zoe')
  assert.equal(readFields(fields?.get('64') ?? '')?.get('01'), 'Café Zoë 北')
  assert.equal(readFields(emvCode({ ...payment, merchantName: '北京' }))?.get('59'), 'Merchant')
})

test('a changed character, a cut code and any other text name no address', () => {
  const code = emvCode(payment)
  const changed = code.replace('pay.example', 'pey.example')
  for (const text of [
    '',
    '000201',
    code.slice(1),
    code.slice(0, -1),
    changed,
    `${code}0`,
    'https://pay.example',
  ])
    assert.equal(addressInEmvCode(text), undefined, text)
})

test('a wallet opens only checkouts and links of its own gateway', () => {
  const origins = ['https://pay.example']
  const path = '/l/L5K8Q2M7R4T9W1X3'
  assert.equal(payAddress(emvCode(payment), origins), path)
  assert.equal(payAddress(` ${payment.url}\n`, origins), path)
  assert.equal(payAddress('https://pay.example/checkout/123/P1/a-b_c', origins), '/checkout/123/P1/a-b_c')
  for (const url of [
    'https://evil.example/l/L1',
    'https://pay.example/wallet/close',
    '//evil.example/l/L1',
    path,
    'x',
  ])
    assert.equal(payAddress(url, origins), undefined, url)
  assert.equal(payAddress(emvCode({ ...payment, url: 'https://evil.example/l/L1' }), origins), undefined)
})

test('every currency has its number', () => {
  const numbers = Object.keys(currencies).map(numericCode)
  for (const number of numbers) assert.match(number, /^\d{3}$/)
  assert.equal(new Set(numbers).size, numbers.length)
  assert.equal(numericCode('JPY'), '392')
})
