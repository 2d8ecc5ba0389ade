import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchingStep, otpauthUri, toBase32, totpCode } from './totp.ts'

const secret = Buffer.from('12345678901234567890')

test('codes match RFC 6238, appendix B, shortened to the last six digits', () => {
  for (const [seconds, code] of [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const)
    assert.equal(totpCode(secret, seconds * 1000), code.slice(-6))
})

test('a clock may be off by up to half a minute', () => {
  const nowMs = 1_234_567_890_000
  const step = Math.floor(nowMs / 30_000)
  for (const drift of [-1, 0, 1])
    assert.equal(matchingStep(secret, totpCode(secret, nowMs + drift * 30_000), nowMs), step + drift)
  for (const drift of [-2, 2])
    assert.equal(matchingStep(secret, totpCode(secret, nowMs + drift * 30_000), nowMs), undefined)
  for (const wrong of ['', '12345', '1234567', '１２３４５６', 'abcdef'])
    assert.equal(matchingStep(secret, wrong, nowMs), undefined)
})

test('base32 follows RFC 4648 without padding', () => {
  for (const [plain, encoded] of [
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ] as const)
    assert.equal(toBase32(Buffer.from(plain)), encoded)
})

test('the otpauth URL contains issuer, login and secret', () => {
  assert.equal(
    otpauthUri({ secret, login: 'alice', issuer: 'Tillgate pay.example' }),
    'otpauth://totp/Tillgate%20pay.example:alice?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Tillgate%20pay.example&algorithm=SHA1&digits=6&period=30',
  )
})
