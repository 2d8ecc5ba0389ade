import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { isSignedBy, mustBePrivateKey, mustBePublicKey, privateKeyOf, publicKeyOf, signed } from './rsa.ts'

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })

test('keys are read as PEM, as bare base64, and with escaped line breaks', () => {
  const publicPem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    const pem = pair.privateKey.export({ type, format: 'pem' }).toString()
    const bare = pem.replace(/-----.*-----/g, '').replace(/\n/g, '')
    for (const text of [pem, bare, pem.replaceAll('\n', '\\n')]) {
      const [secret, open] = [privateKeyOf(text), publicKeyOf(publicPem)]
      assert(secret && open)
      assert(isSignedBy(open, 'text', signed('text', secret)))
      assert(!isSignedBy(open, 'texT', signed('text', secret)))
    }
  }
})

test('invalid keys are reported as such', () => {
  assert.match(mustBePrivateKey('secret') ?? '', /^must be an RSA private key/)
  assert.match(mustBePublicKey('') ?? '', /^must be an RSA public key/)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  assert(mustBePublicKey(publicKey.export({ type: 'spki', format: 'pem' }).toString()))
  assert(mustBePrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()))
})
