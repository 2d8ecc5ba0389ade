import assert from 'node:assert/strict'
import { constants, createSecretKey, generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { bytesKept } from '../test/kept.ts'
import { otherPair, pair } from '../test/keys.ts'
import { signText, verifyBytesHere, verifyText } from './signing.ts'

const text = 'body={"a":"é😀"}&charset=utf-8'

test('a signature verifies only with the matching public key', async () => {
  const signature = await signText(text, pair.privateKey)
  assert.equal(await verifyText(text, signature, pair.publicKey), true)
  assert.equal(await verifyText(text, signature, otherPair.publicKey), false)
  assert.equal(await verifyText(`${text} `, signature, pair.publicKey), false)
})

test('the same text has the same signature, as PKCS#1 v1.5 requires', async () => {
  assert.equal(await signText(text, pair.privateKey), await signText(text, pair.privateKey))
})

test('PSS, SHA-1, SHA-512 and raw signatures with the right key do not verify', async () => {
  const data = Buffer.from(text)
  const key = pair.privateKey
  const others = [
    sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING }),
    sign('sha1', data, key),
    sign('sha512', data, key),
  ]
  for (const other of others)
    assert.equal(await verifyText(text, other.toString('base64'), pair.publicKey), false)
})

test('a signature in non-canonical base64 does not verify', async () => {
  const signature = await signText(text, pair.privateKey)
  const others = [
    `${signature}\n`,
    ` ${signature}`,
    signature.replace(/=+$/, ''),
    `${signature}=`,
    signature.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    '',
  ]
  for (const other of others) assert.equal(await verifyText(text, other, pair.publicKey), false)
})

test('a key that cannot sign or verify is a bug and rejects', async () => {
  const secret = createSecretKey(Buffer.alloc(32))
  const ed = generateKeyPairSync('ed25519')
  for (const key of [secret, pair.publicKey, ed.privateKey]) await assert.rejects(signText(text, key))
  for (const key of [secret, ed.publicKey]) await assert.rejects(verifyText(text, 'AAAA', key))
})

test('synchronous verification gives the same result as the thread pool', async () => {
  const signature = Buffer.from(await signText(text, pair.privateKey), 'base64')
  assert.equal(verifyBytesHere({ text, signature, publicKey: pair.publicKey }), true)
  assert.equal(verifyBytesHere({ text, signature, publicKey: otherPair.publicKey }), false)
  assert.equal(verifyBytesHere({ text: `${text} `, signature, publicKey: pair.publicKey }), false)
  const { publicKey } = generateKeyPairSync('ed25519')
  assert.throws(() => verifyBytesHere({ text, signature, publicKey }))
})

test('signed and verified texts are freed by the next minor garbage collection', async () => {
  const longText = (index: number) => `${index}`.padEnd(50_000, 'x')
  const kept = await bytesKept(async () => {
    for (let index = 0; index < 100; index++) {
      const signature = await signText(longText(index), pair.privateKey)
      assert.equal(await verifyText(longText(index), signature, pair.publicKey), true)
    }
  })
  assert.ok(kept < 1_000_000, `${kept} bytes of 10,000,000 were kept`)
})
