import assert from 'node:assert/strict'
import {
  constants,
  createCipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  privateEncrypt,
  randomBytes,
  sign,
} from 'node:crypto'
import { test } from 'node:test'
import { encryptText, parseAesKey, requestStringToSign, sealCallback } from '@tillgate/protocol'
import { callbackVectors, credentials, keys, parsed } from '../../test/support/credentials.ts'
import { type DebugInput, type Diagnosis, debugEnvelope } from './debug-envelope.ts'

const nowMs = 1_760_000_000_000
const body = '{"order":{"orderNo":"A/1","name":"Zoë & Co"},"paymentAmount":"12.50","currency":"USD"}'
const method = 'service.trade.create'
const { merchantId } = credentials
const timestamp = String(nowMs)
const right = requestStringToSign({ merchantId, method, timestamp }, body)

const signed = (text: string | Buffer, hash = 'sha256', key = keys.merchant.privateKey) =>
  sign(hash, Buffer.from(text as string), key).toString('base64')
const encrypted = (text: string) => encryptText(text, parsed.aesKey)

/** A valid request with one change. */
const request = (change: Record<string, unknown> = {}) => ({
  merchantId,
  method,
  sign: signed(right),
  timestamp: nowMs,
  body: encrypted(body),
  ...change,
})

function debug(envelope: object | string, input: Partial<DebugInput> = {}): Diagnosis {
  const text = typeof envelope === 'string' ? envelope : JSON.stringify(envelope)
  const diagnosis = debugEnvelope({ envelope: Buffer.from(text), credentials, nowMs, ...input })
  const results = JSON.stringify(diagnosis)
  for (const { aesKey, privateKey } of Object.values(keys)) {
    assert.ok(!results.includes(aesKey), 'the AES key is revealed')
    assert.ok(!results.includes(privateKey.split('\n')[1] ?? '?'), 'the private key is revealed')
  }
  return diagnosis
}

const kindsOf = ({ findings }: Diagnosis) => findings.map(({ kind }) => kind)

/** Exactly these mistakes and no others. */
function finds(
  envelope: object | string,
  kinds: readonly string[],
  input: Partial<DebugInput> = {},
): Diagnosis {
  const diagnosis = debug(envelope, input)
  assert.deepEqual(kindsOf(diagnosis), kinds)
  return diagnosis
}

/** A valid request, signed over another string. */
const signedOver = (text: string) => request({ sign: signed(text) })
const stringWith = (otherBody: string) => requestStringToSign({ merchantId, method, timestamp }, otherBody)

test('a valid request and a valid callback have no findings', () => {
  const { stringToSign } = finds(request(), [])
  assert.equal(stringToSign, right)
  for (const { envelope } of callbackVectors) finds(envelope, [])
})

test('your own public key instead of the gateway’s', () => {
  const { envelope } = callbackVectors[0] ?? assert.fail()
  const wrong = { ...credentials, platformPublicKey: keys.merchant.publicKey }
  finds(envelope, ['own_public_key_as_platforms'], { credentials: wrong })
})

test('a callback with a foreign signature, a request signed with another key', async () => {
  const { body: plain } = callbackVectors[0] ?? assert.fail()
  const forged = await sealCallback(
    {
      id: '01995f2d-8000-7000-8000-0000000000aa',
      merchantId,
      eventName: 'payment.order.success',
      timestamp: nowMs,
      body: plain,
    },
    { aesKey: parsed.aesKey, privateKey: createPrivateKey(keys.stranger.privateKey) },
  )
  finds(forged, ['other_rsa_key'])
  finds(request({ sign: signed(right, 'sha256', keys.stranger.privateKey) }), ['other_rsa_key'])
})

test('a request signed with the gateway’s key is recognized', () => {
  const { findings } = finds(request({ sign: signed(right, 'sha256', keys.gateway.privateKey) }), [
    'other_signer',
  ])
  assert.match(findings[0]?.problem ?? '', /the gateway’s key/)
})

test('another merchant’s AES key', () => {
  finds(request({ body: encryptText(body, parseAesKey(keys.stranger.aesKey)) }), ['other_aes_key'])
})

for (const [what, aesKey, words] of [
  ['in hex', Buffer.from(keys.merchant.aesKey, 'base64').toString('hex'), /in hex/],
  ['url-safe', randomBytes(33).fill(0xfb).toString('base64url'), /url-safe/],
  ['of 16 bytes', randomBytes(16).toString('base64'), /has 16 bytes/],
  ['without its =', keys.merchant.aesKey.replace('=', ''), /lacks its "="/],
  ['that is no base64', 'my secret key!', /is not base64/],
] as const) {
  test(`an AES key ${what}`, () => {
    const { findings } = finds(request(), ['aes_key_form', 'no_aes_key'], {
      credentials: { ...credentials, aesKey },
    })
    assert.match(findings[0]?.problem ?? '', words)
    assert.ok(!JSON.stringify(findings).includes(aesKey))
  })
}

test('the base64 text of the AES key was used as the key', () => {
  const key = parseAesKey(Buffer.from(keys.merchant.aesKey).subarray(0, 32).toString('base64'))
  finds(request({ body: encryptText(body, key) }), ['aes_key_not_decoded'])
})

test('a body that was serialized twice, with the first differing byte', () => {
  const value = JSON.parse(body)
  const forms = [
    JSON.stringify(value, null, 2),
    JSON.stringify({
      currency: value.currency,
      order: { name: value.order.name, orderNo: value.order.orderNo },
      paymentAmount: value.paymentAmount,
    }),
    body.replaceAll('/', '\\/'),
    body.replaceAll('ë', '\\u00eb'),
    body.replaceAll('&', '\\u0026'),
    body
      .replaceAll('":"', '": "')
      .replaceAll('":{', '": {')
      .replaceAll('","', '", "')
      .replaceAll('},"', '}, "'),
  ]
  for (const form of forms) {
    const { findings } = finds(signedOver(stringWith(form)), ['body_reserialised'])
    assert.match(findings[0]?.evidence?.[0] ?? '', /^they part at byte \d+/)
  }
  const { findings } = finds(signedOver(stringWith(forms[0] ?? '')), ['body_reserialised'])
  assert.match(findings[0]?.evidence?.[0] ?? '', /they part at byte 1 \(0x22 """ there, 0x0a here\)/)
})

test('the encrypted body differs from the intended one', () => {
  const meant = body.replace('12.50', '12.5')
  const { findings } = finds(signedOver(stringWith(meant)), ['other_body', 'body_reserialised'], {
    body: meant,
  })
  assert.match(findings[0]?.evidence?.join() ?? '', /they part at byte/)
})

test('the encrypted body was signed', () => {
  const sealed = encrypted(body)
  finds(request({ body: sealed, sign: signed(stringWith(sealed)) }), ['encrypted_body_signed'])
})

test('fields in another order', () => {
  const parts = right.split('&charset')
  finds(signedOver(`charset${parts[1]}&${parts[0]}`), ['field_order'])
})

test('defaults are missing in the string', () => {
  finds(signedOver(`body=${body}&merchantId=${merchantId}&method=${method}&timestamp=${timestamp}`), [
    'defaults_missing',
  ])
  finds(signedOver(right.replace('&format=json', '')), ['defaults_missing'])
})

test('URL-encoded values in the string, and in the envelope', () => {
  finds(signedOver(stringWith(encodeURIComponent(body))), ['url_encoded_value'])
  finds(request({ sign: encodeURIComponent(signed(right)) }), ['url_encoded_value'])
})

test('SHA-1, SHA-512, PSS, a hash without its prefix, a double hash', () => {
  for (const hash of ['sha1', 'sha512', 'md5']) finds(request({ sign: signed(right, hash) }), ['wrong_hash'])
  const pss = sign('sha256', Buffer.from(right), {
    key: keys.merchant.privateKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
  })
  finds(request({ sign: pss.toString('base64') }), ['pss_instead_of_pkcs1'])
  const digest = createHash('sha256').update(right).digest()
  finds(request({ sign: privateEncrypt(keys.merchant.privateKey, digest).toString('base64') }), ['raw_rsa'])
  finds(signedOver(digest.toString('hex')), ['hashed_twice'])
})

test('hex, URL-safe, wrapped or unpadded base64', () => {
  const bytes = Buffer.from(signed(right), 'base64')
  finds(request({ sign: bytes.toString('hex') }), ['hex_instead_of_base64'])
  finds(request({ sign: bytes.toString('base64url') }), ['url_safe_base64'])
  finds(request({ sign: signed(right).replace(/(.{76})/g, '$1\n') }), ['line_breaks_in_base64'])
  finds(request({ sign: signed(right).replace(/=+$/, '') }), ['base64_padding_lost'])
  finds(request({ sign: signed(right).replaceAll('+', ' ') }), ['plus_became_space'])
  finds(request({ body: Buffer.from(encrypted(body), 'base64').toString('hex') }), ['hex_instead_of_base64'])
  finds(request({ sign: '!!!' }), ['sign_not_base64'])
})

/** The three parts of an encrypted body, for combining them wrongly. */
function pieces() {
  const bytes = Buffer.from(encrypted(body), 'base64')
  return { nonce: bytes.subarray(0, 12), text: bytes.subarray(12, -16), tag: bytes.subarray(-16) }
}
const joined = (...parts: Buffer[]) => request({ body: Buffer.concat(parts).toString('base64') })

test('nonce, ciphertext and tag in another order, or no tag', () => {
  const { nonce, text, tag } = pieces()
  finds(joined(nonce, tag, text), ['tag_order'])
  finds(joined(tag, nonce, text), ['tag_order'])
  finds(joined(text, tag, nonce), ['tag_order'])
  finds(joined(nonce, text), ['tag_missing'])
  finds(joined(nonce, text, Buffer.alloc(16)), ['tag_wrong'])
})

test('CBC and ECB instead of GCM, a nonce of 16 bytes, no encryption', () => {
  const key = Buffer.from(keys.merchant.aesKey, 'base64')
  const block = (mode: string, iv: Buffer | null) => {
    const cipher = createCipheriv(mode, key, iv)
    return Buffer.concat([cipher.update(body), cipher.final()])
  }
  const iv = randomBytes(16)
  finds(joined(iv, block('aes-256-cbc', iv)), ['cbc_instead_of_gcm'])
  finds(joined(block('aes-256-ecb', null)), ['ecb_instead_of_gcm'])
  const gcm = createCipheriv('aes-256-gcm', key, iv)
  const text = Buffer.concat([gcm.update(body), gcm.final()])
  finds(joined(iv, text, gcm.getAuthTag()), ['nonce_length'])
  finds(joined(Buffer.from(body)), ['body_not_encrypted'])
  finds(request({ body: JSON.parse(body) }), ['body_not_encrypted'])
})

test('seconds or microseconds instead of milliseconds', () => {
  const seconds = Math.floor(nowMs / 1000)
  const sign = signed(requestStringToSign({ merchantId, method, timestamp: String(seconds) }, body))
  finds(request({ timestamp: seconds, sign }), ['timestamp_in_seconds'])
  const micro = `${nowMs}000`
  const microSign = signed(requestStringToSign({ merchantId, method, timestamp: micro }, body))
  finds(request({ timestamp: micro, sign: microSign }), ['timestamp_not_milliseconds'])
})

test('a clock that is ahead or was behind when the message was sent; an old recording is fine', () => {
  finds(request(), ['clock_skew'], { nowMs: nowMs - 5 * 60_000 - 1 })
  finds(request(), [], { nowMs: nowMs - 5 * 60_000 })
  finds(request(), [], { nowMs: nowMs + 86_400_000 })
  const { findings } = finds(request(), ['clock_skew'], { sentAtMs: nowMs + 600_000 })
  assert.match(findings[0]?.problem ?? '', /10 minutes behind/)
})

test('a PEM whose label does not match its content', () => {
  const relabelled = (der: Buffer, label: string) =>
    `-----BEGIN ${label}-----\n${der.toString('base64').replace(/(.{64})/g, '$1\n')}\n-----END ${label}-----\n`
  const pkcs1 = createPublicKey(keys.gateway.publicKey).export({ type: 'pkcs1', format: 'der' })
  const platformPublicKey = relabelled(pkcs1, 'PUBLIC KEY')
  const { envelope } = callbackVectors[0] ?? assert.fail()
  const { findings } = finds(envelope, ['pem_label_mismatch'], {
    credentials: { ...credentials, platformPublicKey },
  })
  assert.match(
    findings[0]?.problem ?? '',
    /contains a PKCS#1 key, which belongs under "BEGIN RSA PUBLIC KEY"/,
  )
  const pkcs8 = createPrivateKey(keys.merchant.privateKey).export({ type: 'pkcs8', format: 'der' })
  const privateKey = relabelled(pkcs8, 'RSA PRIVATE KEY')
  // OpenSSL looks inside a private key and ignores its label.
  finds(request(), [], { credentials: { ...credentials, privateKey } })
})

test('a line break at the end of the body, signed or not', () => {
  finds(signedOver(stringWith(`${body}\n`)), ['trailing_newline'])
  finds(request({ body: encrypted(`${body}\n`) }), ['trailing_newline', 'trailing_newline'])
  finds(signedOver(`${right}\n`), ['trailing_newline'])
})

test('a byte order mark, or another charset', () => {
  finds(`\uFEFF${JSON.stringify(request())}`, ['byte_order_mark'])
  finds(request({ body: encrypted(`\uFEFF${body}`), sign: signed(stringWith(`\uFEFF${body}`)) }), [
    'byte_order_mark',
  ])
  finds(request({ sign: signed(Buffer.from(right, 'latin1')) }), ['other_charset'])
  const { nonce } = pieces()
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(keys.merchant.aesKey, 'base64'), nonce)
  const text = Buffer.concat([cipher.update(Buffer.from(body, 'latin1')), cipher.final()])
  finds(joined(nonce, text, cipher.getAuthTag()), ['other_charset'])
})

test('another merchant’s id', () => {
  const other = '100000000000000002'
  const sign = signed(requestStringToSign({ merchantId: other, method, timestamp }, body))
  finds(request({ merchantId: other, sign }), ['merchant_id_mismatch'])
})

test('a form, JSON that was encoded twice, text that is not JSON, or an invalid field', () => {
  finds(new URLSearchParams({ merchantId, method }).toString(), ['form_instead_of_json'])
  finds(JSON.stringify(JSON.stringify(request())), ['serialised_twice'])
  finds('hello', ['not_json'])
  finds(request({ charset: 'latin1', sign: signed(right.replace('utf-8', 'latin1')) }), ['envelope_field'])
  finds(request({ merchant_id: merchantId }), ['envelope_field'])
})

test('a request saved with its headers is read, too', () => {
  finds(`POST /api/v1/gateway HTTP/1.1\r\nHost: x\r\n\r\n${JSON.stringify(request())}`, [])
})

test('the string from the merchant’s code is compared byte by byte', () => {
  const { envelope } = callbackVectors[0] ?? assert.fail()
  const { stringToSign = '' } = debug(envelope)
  finds(envelope, [], { stringToSign })
  const { findings } = finds(envelope, ['other_string'], {
    stringToSign: stringToSign.replace('format=json', 'format=JSON'),
  })
  assert.match(findings[0]?.evidence?.[0] ?? '', /0x6a "j" there, 0x4a "J" here/)
})

test('two simultaneous mistakes are both reported', () => {
  const sealed = encrypted(body)
  finds(
    request({
      body: sealed,
      sign: Buffer.from(signed(stringWith(sealed), 'sha1'), 'base64').toString('hex'),
    }),
    ['hex_instead_of_base64', 'wrong_hash', 'encrypted_body_signed'],
  )
})

test('an unrecognizable string is reported as unknown, with the correct one', () => {
  const { findings } = finds(signedOver('something else'), ['other_string'])
  assert.match(findings[0]?.evidence?.[0] ?? '', /^expected body=\{"order"/)
})
