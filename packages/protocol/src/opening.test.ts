import assert from 'node:assert/strict'
import {
  constants,
  createCipheriv,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { aesKey, openingKeys, otherAesKey, otherPair, pair, sealingKeys, strangerPair } from '../test/keys.ts'
import { Failure } from './codes.ts'
import { decryptBytes } from './encryption.ts'
import {
  parseCallbackEnvelope,
  parseRequestEnvelope,
  type RequestEnvelope,
  type RequestWire,
  requestStringToSign,
} from './envelope.ts'
import {
  type OpeningKeys,
  openCallback,
  openingToolsHere,
  openRequest,
  openRequestEnvelope,
  openSealed,
} from './opening.ts'
import { sealCallback, sealRequest } from './sealing.ts'
import { verifyBytes } from './signing.ts'

const message = {
  merchantId: '123456789012345678',
  method: 'service.trade.refund',
  timestamp: 1760000000000,
  body: '{"paymentId":"P1","refundAmount":10.5,"note":"é😀&charset=utf-8"}',
}
let wire: RequestWire
let envelope: RequestEnvelope

before(async () => {
  wire = await sealRequest(message, sealingKeys)
  envelope = parseRequestEnvelope(JSON.stringify(wire))
})

test('a sealed envelope opens to the same text', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 })
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1e12, max: 1e13 - 1 }), async (body, timestamp) => {
      const sealed = await sealRequest({ ...message, body, timestamp }, sealingKeys)
      assert.equal(await openRequest(parseRequestEnvelope(JSON.stringify(sealed)), openingKeys), body)
    }),
    { numRuns: 50 },
  )
})

test('a sealed callback opens, and its timestamp is sent as text', async () => {
  const id = '01234567-89ab-7fff-bfff-ffffffffffff'
  const callback = await sealCallback(
    {
      id,
      merchantId: message.merchantId,
      eventName: 'payment.refund.failed',
      timestamp: 1760000000000,
      body: '{"a":1}',
    },
    sealingKeys,
  )
  assert.equal(callback.timestamp, '1760000000000')
  const parsed = parseCallbackEnvelope(JSON.stringify(callback))
  assert.equal(await openCallback(parsed, openingKeys), '{"a":1}')
  const other = { ...parsed, id: '01234567-89ab-7fff-bfff-fffffffffffe' }
  assert.equal(await openCallback(other, openingKeys), undefined)
  assert.equal(await openCallback({ ...parsed, eventName: 'payment.refund.success' }, openingKeys), undefined)
})

test('an envelope with any changed byte does not open', async () => {
  const bytes = Buffer.from(JSON.stringify(wire))
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: bytes.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      async (at, difference) => {
        const changed = Buffer.from(bytes)
        changed.writeUInt8(changed.readUInt8(at) ^ difference, at)
        assert.equal(await openText(changed.toString('utf8')), undefined)
      },
    ),
    { numRuns: 300 },
  )
})

/** Also undefined if the text is no longer an envelope. */
async function openText(text: string): Promise<string | undefined> {
  let parsed: RequestEnvelope
  try {
    parsed = parseRequestEnvelope(text)
  } catch (error) {
    assert(error instanceof Failure)
    return undefined
  }
  return openRequest(parsed, openingKeys)
}

test('an envelope with another value of any signed field does not open', async () => {
  const changes: Partial<RequestEnvelope>[] = [
    { merchantId: '123456789012345679' },
    { method: 'service.trade.create' },
    { timestamp: '1760000000001' },
    { sign: envelope.body },
    { body: envelope.sign },
    { sign: envelope.body, body: envelope.sign },
  ]
  for (const change of changes)
    assert.equal(await openRequest({ ...envelope, ...change }, openingKeys), undefined)
})

test('a field inside the body does not replace the real field', async () => {
  const { merchantId, timestamp } = envelope
  const smuggled = `${message.body}&charset=utf-8&encryptType=AES&format=json&merchantId=${merchantId}&method=service.trade.refund&signType=RSA&timestamp=${timestamp}`
  const sealed = await sealRequest({ ...message, method: 'service.trade.query', body: smuggled }, sealingKeys)
  const parsed = parseRequestEnvelope(JSON.stringify(sealed))
  assert.equal(await openRequest(parsed, openingKeys), smuggled)
  assert.equal(await openRequest({ ...parsed, method: 'service.trade.refund' }, openingKeys), undefined)
  assert.equal(await openRequest({ ...parsed, body: envelope.body }, openingKeys), undefined)
})

test('the right key with another algorithm does not open', async () => {
  const data = Buffer.from(requestStringToSign(envelope, message.body))
  const key = pair.privateKey
  const signatures = [
    sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING }),
    sign('sha1', data, key),
    sign('sha256', Buffer.from(requestStringToSign(envelope, envelope.body)), key),
  ]
  for (const signature of signatures) {
    assert.equal(
      await openRequest({ ...envelope, sign: signature.toString('base64') }, openingKeys),
      undefined,
    )
  }
})

test('either of two active keys of each kind opens, in any combination', async () => {
  const keys = { aesKeys: [aesKey, otherAesKey], publicKeys: [pair.publicKey, otherPair.publicKey] }
  for (const key of keys.aesKeys) {
    for (const { privateKey } of [pair, otherPair]) {
      const sealed = await sealRequest(message, { aesKey: key, privateKey })
      assert.equal(await openRequest(parseRequestEnvelope(JSON.stringify(sealed)), keys), message.body)
    }
  }
})

test('an opened request names the two keys that opened it', async () => {
  const keys = { aesKeys: [aesKey, otherAesKey], publicKeys: [pair.publicKey, otherPair.publicKey] }
  for (const key of keys.aesKeys) {
    for (const { privateKey, publicKey } of [pair, otherPair]) {
      const sealed = parseRequestEnvelope(
        JSON.stringify(await sealRequest(message, { aesKey: key, privateKey })),
      )
      const opened = await openRequestEnvelope(sealed, keys)
      assert.equal(opened?.aesKey, key)
      assert.equal(opened?.publicKey, publicKey)
      assert.equal(await openRequestEnvelope({ ...sealed, sign: 'AAAA' }, keys), undefined)
    }
  }
})

test('synchronous opening accepts and rejects the same envelopes', async () => {
  assert.equal(await openRequest(envelope, openingKeys, openingToolsHere), message.body)
  const other = { ...envelope, method: 'service.trade.create' }
  assert.equal(await openRequest(other, openingKeys, openingToolsHere), undefined)
  const wrongKeys = { ...openingKeys, aesKeys: [otherAesKey] }
  assert.equal(await openRequest(envelope, wrongKeys, openingToolsHere), undefined)
})

test('more than two active keys are a bug', async () => {
  const three = [aesKey, otherAesKey, aesKey]
  await assert.rejects(
    openRequest(envelope, { ...openingKeys, aesKeys: three }),
    /^RangeError: at most 2 live keys/,
  )
  const publicKeys = [pair.publicKey, pair.publicKey, pair.publicKey]
  await assert.rejects(
    openRequest(envelope, { ...openingKeys, publicKeys }),
    /^RangeError: at most 2 live keys/,
  )
})

test('a public key that is not RSA is a bug', async () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  await assert.rejects(
    openRequest(envelope, { ...openingKeys, publicKeys: [publicKey] }),
    /^TypeError: only RSA keys/,
  )
})

interface Work {
  decryptions: number
  verifications: number
  /** The sizes that were decrypted. */
  decryptedBytes: Set<number>
  verifiedLengths: Set<number>
}

async function workOf(changed: Partial<RequestEnvelope>, keys: OpeningKeys | undefined): Promise<Work> {
  const given = { ...envelope, ...changed }
  const work: Work = {
    decryptions: 0,
    verifications: 0,
    decryptedBytes: new Set(),
    verifiedLengths: new Set(),
  }
  const opened = await openSealed(
    { ...given, stringToSign: (body) => requestStringToSign(given, body) },
    keys,
    {
      decrypt: (bytes, key) => {
        work.decryptions++
        work.decryptedBytes.add(bytes.length)
        assert(bytes.length >= 28, 'too short to be any work')
        return decryptBytes(bytes, key)
      },
      verify: (verification) => {
        work.verifications++
        work.verifiedLengths.add(verification.text.length)
        const modulus = modulusOf(verification.publicKey)
        assert.equal(verification.signature.length, modulus.length, 'OpenSSL would refuse this at once')
        assert(verification.signature.compare(modulus) < 0, 'OpenSSL would refuse this at once as well')
        return verifyBytes(verification)
      },
    },
  )
  assert.equal(opened, undefined)
  return work
}

function modulusOf(publicKey: KeyObject): Buffer {
  return Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url')
}

test('every failure costs two decryptions and two verifications', async () => {
  const two = { aesKeys: [aesKey, otherAesKey], publicKeys: [pair.publicKey, otherPair.publicKey] }
  const wrongSign = (await sealRequest(message, { aesKey, privateKey: strangerPair.privateKey })).sign
  const tooLarge = Buffer.alloc(256, 0xff).toString('base64')
  const cases: [string, Partial<RequestEnvelope>, OpeningKeys | undefined][] = [
    ['unknown merchant', {}, undefined],
    ['merchant without keys', {}, { aesKeys: [], publicKeys: [] }],
    ['wrong signature, one key', { sign: wrongSign }, openingKeys],
    ['wrong signature, two keys', { sign: wrongSign }, two],
    ['wrong AES key', {}, { ...openingKeys, aesKeys: [otherAesKey] }],
    ['wrong AES key, two keys', {}, { ...two, aesKeys: [otherAesKey, otherAesKey] }],
    ['right AES key, no public key', {}, { ...openingKeys, publicKeys: [] }],
    ['signature of another length', { sign: 'QUJD' }, two],
    ['signature larger than the modulus', { sign: tooLarge }, two],
    [
      'signature as large as the modulus',
      { sign: modulusOf(pair.publicKey).toString('base64') },
      openingKeys,
    ],
    ['signature not canonical', { sign: 'QR==' }, two],
    ['body not canonical', { body: 'QR==' }, two],
    ['body of no length', { body: 'QQ==' }, openingKeys],
    ['body not canonical, unknown merchant', { body: 'QR==' }, undefined],
    ['another method', { method: 'service.trade.create' }, two],
  ]
  for (const [name, changed, keys] of cases) {
    const { decryptions, verifications } = await workOf(changed, keys)
    assert.deepEqual({ decryptions, verifications }, { decryptions: 2, verifications: 2 }, name)
  }
})

test('decoy work takes as long as real work', async () => {
  const bodyBytes = Buffer.from(envelope.body, 'base64').length
  const signedLength = requestStringToSign(envelope, 'x'.repeat(bodyBytes - 12 - 16)).length
  const cases: [string, Partial<RequestEnvelope>, OpeningKeys | undefined][] = [
    ['unknown merchant', {}, undefined],
    ['wrong AES key', {}, { ...openingKeys, aesKeys: [otherAesKey] }],
    ['body not canonical', { body: `${envelope.body}\n` }, openingKeys],
  ]
  for (const [name, changed, keys] of cases) {
    const { decryptedBytes, verifiedLengths } = await workOf(changed, keys)
    assert.deepEqual([...decryptedBytes], [bodyBytes], name)
    assert.deepEqual([...verifiedLengths], [signedLength], name)
  }
  const { decryptedBytes, verifiedLengths } = await workOf({ body: 'QQ==' }, openingKeys)
  assert.deepEqual([...decryptedBytes], [28])
  assert.deepEqual([...verifiedLengths], [requestStringToSign(envelope, '').length])
})

test('a successful opening does no additional work', async () => {
  let acts = 0
  const opened = await openSealed(
    { ...envelope, stringToSign: (body) => requestStringToSign(envelope, body) },
    openingKeys,
    {
      decrypt: (bytes, key) => {
        acts++
        return decryptBytes(bytes, key)
      },
      verify: (verification) => {
        acts++
        return verifyBytes(verification)
      },
    },
  )
  assert.equal(opened, message.body)
  assert.equal(acts, 2)
})

test('a body that is not UTF-8 does not open, even if encrypted and signed', async () => {
  const nonce = Buffer.alloc(12, 3)
  const cipher = createCipheriv('aes-256-gcm', aesKey, nonce, { authTagLength: 16 })
  const plain = Buffer.from([0x22, 0xff, 0x22])
  const body = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
    'base64',
  )
  const head = Buffer.from('body=')
  const tail = Buffer.from(requestStringToSign(envelope, '').slice('body='.length))
  const signature = sign('sha256', Buffer.concat([head, plain, tail]), pair.privateKey).toString('base64')
  assert.equal(await openRequest({ ...envelope, body, sign: signature }, openingKeys), undefined)
})

test('a signature made with a decoy key does not open', async () => {
  const keys = { aesKeys: [aesKey], publicKeys: [createPublicKey(pair.privateKey)] }
  const given = { ...envelope, sign: 'QUJD' }
  const opened = await openSealed(
    { ...given, stringToSign: (body) => requestStringToSign(given, body) },
    keys,
    {
      decrypt: decryptBytes,
      verify: async () => true,
    },
  )
  assert.equal(opened, undefined)
})
