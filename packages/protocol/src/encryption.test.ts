import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { aesKey, otherAesKey } from '../test/keys.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { decryptBytes, encryptText } from './encryption.ts'

function decrypt(text: string, key = aesKey): string | undefined {
  return decryptBytes(Buffer.from(text, 'base64'), key)
}

test('encrypted text decrypts to the same bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(decrypt(encryptText(text, aesKey)), text)
    }),
  )
  assert.equal(decrypt(encryptText('\ufeff{}', aesKey)), '\ufeff{}')
  assert.equal(decrypt(encryptText('', aesKey)), '')
})

test('the body is nonce, ciphertext and tag in that order', () => {
  const nonce = Buffer.alloc(12, 7)
  const bytes = Buffer.from(encryptText('abc', aesKey, nonce), 'base64')
  assert.equal(bytes.length, 12 + 3 + 16)
  assert.deepEqual(bytes.subarray(0, 12), nonce)
})

test('every encryption has its own nonce', () => {
  const bodies = new Set(Array.from({ length: 100 }, () => encryptText('abc', aesKey).slice(0, 16)))
  assert.equal(bodies.size, 100)
})

test('a nonce of another length is a bug', () => {
  assert.throws(
    () => encryptText('abc', aesKey, Buffer.alloc(16)),
    /^RangeError: the nonce must have 12 bytes/,
  )
})

test('another key, a flipped bit or another length decrypts to nothing', () => {
  const sealed = encryptText('{"paymentId":"P1"}', aesKey)
  assert.equal(decrypt(sealed, otherAesKey), undefined)
  const bytes = Buffer.from(sealed, 'base64')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    assert.equal(decryptBytes(changed, aesKey), undefined, `bit ${bit}`)
  }
  for (let length = 0; length < bytes.length; length++) {
    assert.equal(decryptBytes(bytes.subarray(0, length), aesKey), undefined, `${length} bytes`)
  }
})

test('a tag of 4 bytes is rejected even if it is correct', () => {
  const nonce = Buffer.alloc(12, 1)
  const cipher = createCipheriv('aes-256-gcm', aesKey, nonce, { authTagLength: 4 })
  const ciphertext = Buffer.concat([cipher.update('{"paymentId":"P1234567890"}'), cipher.final()])
  assert.equal(decryptBytes(Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]), aesKey), undefined)
})

test('bytes that are not UTF-8 decrypt to nothing', () => {
  const nonce = Buffer.alloc(12, 1)
  const cipher = createCipheriv('aes-256-gcm', aesKey, nonce, { authTagLength: 16 })
  const ciphertext = Buffer.concat([cipher.update(Buffer.from([0x7b, 0xc3, 0x28, 0x7d])), cipher.final()])
  assert.equal(decryptBytes(Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]), aesKey), undefined)
})

test('each value has one base64 form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      assert.deepEqual(decodeBase64(encodeBase64(bytes)), Buffer.from(bytes))
    }),
  )
  for (const text of ['QQ', 'QQ=', 'QR==', 'QQ==\n', ' QQ==', 'Q Q==', 'QQ==QQ==', '-_-_', 'QQ===']) {
    assert.equal(decodeBase64(text), undefined, JSON.stringify(text))
  }
})
