// Time-based codes (RFC 6238): six digits every 30 seconds, from a secret shared by an app and the gateway.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '@tillgate/protocol'

const stepMs = 30_000
const digits = 6
/** 160 bits, as long as the hash. */
const secretBytes = 20
/** The number of steps that a clock may be off in either direction. */
const driftSteps = 1

export function makeTotpSecret(random: RandomBytes): Buffer {
  return Buffer.from(random(secretBytes))
}

export function totpCode(secret: Buffer, timeMs: number): string {
  return codeOfStep(secret, stepOf(timeMs))
}

/** The matching step near now, or undefined. All steps are compared, so that the duration reveals nothing. */
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
  // RFC 4226, 5.3: the last four bits select the offset, and the top bit is ignored.
  const offset = hash.readUInt8(hash.length - 1) & 0x0f
  const number = hash.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The form that is typed into an app (RFC 4648 without padding). */
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

/** The content of the QR code. */
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
