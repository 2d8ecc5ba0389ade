// Codes that change with time (RFC 6238): six digits every 30 seconds, from a secret that an app and the gateway
// share.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '@tillgate/protocol'

const stepMs = 30_000
const digits = 6
/** 160 bits, as long as the hash that is used. */
const secretBytes = 20
/** How many steps a clock may be off, either way. */
const driftSteps = 1

export function makeTotpSecret(random: RandomBytes): Buffer {
  return Buffer.from(random(secretBytes))
}

export function totpCode(secret: Buffer, timeMs: number): string {
  return codeOfStep(secret, stepOf(timeMs))
}

/** Which step's code this is, near now; undefined: none. All are compared, so that time tells nothing. */
export function matchingStep(secret: Buffer, code: string, nowMs: number): number | undefined {
  const given = Buffer.from(code)
  if (given.length !== digits) return undefined
  let matching: number | undefined
  for (let drift = -driftSteps; drift <= driftSteps; drift++) {
    const step = stepOf(nowMs) + drift
    if (timingSafeEqual(Buffer.from(codeOfStep(secret, step)), given)) matching = step
  }
  return matching
}

function stepOf(timeMs: number): number {
  return Math.floor(timeMs / stepMs)
}

function codeOfStep(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  // Where to look is said by the last four bits; the top bit is left out (RFC 4226, 5.3).
  const offset = hash.readUInt8(hash.length - 1) & 0x0f
  const number = hash.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** As apps take it, when it is typed by hand (RFC 4648, without padding). */
export function toBase32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += base32Digits[(held >> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + base32Digits[(held << (5 - bits)) & 31] : text
}

/** What the QR code holds. */
export function otpauthUri({
  secret,
  login,
  issuer,
}: {
  secret: Buffer
  login: string
  issuer: string
}): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(login)}`
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepMs / 1000}`
}
