import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { pair } from '../test/keys.ts'
import { KeyError, makeAesKey, parseAesKey, parsePrivateKey, parsePublicKey } from './keys.ts'

const { privateKey, publicKey } = pair

function bare(pem: string | Buffer): string {
  return pem
    .toString()
    .replace(/-----[^-]+-----/g, '')
    .trim()
}

function refuses(act: () => unknown, words: RegExp): void {
  assert.throws(act, (error) => error instanceof KeyError && words.test(error.message))
}

/** A key of any size and exponent; generating a real one would take minutes. */
function publicPemOf({ bits, exponent }: { bits: number; exponent: string }): string {
  const n = randomBytes(bits / 8)
  n[0] = 0xff
  n[n.length - 1] = 0xff
  const key: JsonWebKey = { kty: 'RSA', n: n.toString('base64url'), e: exponent }
  return createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()
}

test('a private key is read as PKCS#8, PKCS#1 or their bare base64', () => {
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    const pem = privateKey.export({ type, format: 'pem' }).toString()
    for (const text of [pem, `\n  ${pem}\r\n`, bare(pem), bare(pem).replaceAll('\n', '')]) {
      assert(parsePrivateKey(text).equals(privateKey), type)
    }
  }
})

test('a public key is read as SPKI, PKCS#1 or their bare base64', () => {
  for (const type of ['spki', 'pkcs1'] as const) {
    const pem = publicKey.export({ type, format: 'pem' }).toString()
    for (const text of [pem, pem.replaceAll('\n', '\r\n'), bare(pem), bare(pem).replaceAll('\n', '')]) {
      assert(parsePublicKey(text).equals(publicKey), type)
    }
  }
})

test('the wrong half of a key pair is rejected with an explanation', () => {
  refuses(
    () => parsePublicKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
    /private key.*never/,
  )
  refuses(
    () => parsePublicKey(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()),
    /private key.*never/,
  )
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    refuses(() => parsePublicKey(bare(privateKey.export({ type, format: 'pem' }))), /private key.*never/)
  }
  refuses(
    () => parsePrivateKey(bare(publicKey.export({ type: 'spki', format: 'pem' }))),
    /private RSA key is/,
  )
  refuses(
    () => parsePrivateKey(publicKey.export({ type: 'spki', format: 'pem' }).toString()),
    /this is a public/,
  )
  refuses(
    () => parsePrivateKey(publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()),
    /this is a public/,
  )
})

test('an encrypted private key is rejected with an explanation', () => {
  const secret = { cipher: 'aes-256-cbc', passphrase: 'x' }
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    refuses(
      () => parsePrivateKey(privateKey.export({ type, format: 'pem', ...secret }).toString()),
      /password/,
    )
  }
})

test('text that is not a key is rejected and not quoted', () => {
  for (const text of [
    '',
    'secret!',
    'c2VjcmV0',
    '-----BEGIN PUBLIC KEY-----\nc2VjcmV0\n-----END PUBLIC KEY-----',
  ]) {
    assert.throws(
      () => parsePublicKey(text),
      (error) => error instanceof KeyError && !/secret|c2V/.test(error.message),
    )
    assert.throws(() => parsePrivateKey(text), KeyError)
  }
})

test('keys of other types are rejected', () => {
  const ed = generateKeyPairSync('ed25519')
  refuses(
    () => parsePublicKey(ed.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
    /ed25519, not for RSA/,
  )
  refuses(
    () => parsePrivateKey(ed.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
    /not for RSA/,
  )
})

test('a key has 2048 to 8192 bits', () => {
  const exponent = 'AQAB'
  refuses(
    () => parsePublicKey(publicPemOf({ bits: 2040, exponent })),
    /2040 bits: create one of 2048 bits or more/,
  )
  parsePublicKey(publicPemOf({ bits: 2048, exponent }))
  parsePublicKey(publicPemOf({ bits: 8192, exponent }))
  refuses(
    () => parsePublicKey(publicPemOf({ bits: 8200, exponent })),
    /8200 bits: create one of 8192 bits or fewer/,
  )
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 })
  refuses(
    () => parsePrivateKey(small.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
    /1024 bits/,
  )
})

test('insecure or expensive exponents are rejected', () => {
  for (const exponent of [1n, 2n, 65536n, 2n ** 32n + 1n]) {
    const hex = exponent.toString(16)
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
    refuses(
      () => parsePublicKey(publicPemOf({ bits: 2048, exponent: bytes.toString('base64url') })),
      /exponent/,
    )
  }
  parsePublicKey(publicPemOf({ bits: 2048, exponent: 'Aw' }))
})

test('an AES key is 32 bytes in canonical base64', () => {
  const bytes = randomBytes(32)
  const text = bytes.toString('base64')
  assert.deepEqual(parseAesKey(` ${text}\n`).export(), bytes)
  assert.deepEqual(makeAesKey(bytes).export(), bytes)
  for (const wrong of [
    '',
    text.slice(0, -1),
    bytes.toString('hex'),
    randomBytes(16).toString('base64'),
    randomBytes(33).toString('base64'),
  ]) {
    refuses(() => parseAesKey(wrong), /32 bytes in base64/)
  }
  refuses(() => makeAesKey(randomBytes(16)), /32 bytes/)
})
