// Identifiers made by the gateway: time-ordered letters and digits, from a clock and a source of randomness that are
// passed in. 48 bits of time and 80 of randomness in Crockford's base 32 (without I, L, O, U), after one letter for the
// type.

/** Returns that many random bytes, like `crypto.randomBytes`. */
export type RandomBytes = (size: number) => Uint8Array

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const randomBytesPerId = 10
/** All pairs of base-32 digits by their ten bits. With single digits, an id takes 2.2 µs instead of 1.1. */
const digitPairs = [...alphabet].flatMap((first) => [...alphabet].map((second) => first + second))

export const paymentIdPattern = /^P[0-7][0-9A-HJKMNP-TV-Z]{25}$/
export const refundIdPattern = /^R[0-7][0-9A-HJKMNP-TV-Z]{25}$/
export const transactionIdPattern = /^T[0-7][0-9A-HJKMNP-TV-Z]{25}$/
export const disputeIdPattern = /^D[0-7][0-9A-HJKMNP-TV-Z]{25}$/
export const linkIdPattern = /^L[0-7][0-9A-HJKMNP-TV-Z]{25}$/
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** The gateway makes digits; merchants imported from other systems may have letters. */
export const merchantIdPattern = /^[0-9A-Za-z]{18}$/

export function makePaymentId(nowMs: number, random: RandomBytes): string {
  return `P${timeOrdered(nowMs, random)}`
}

export function makeRefundId(nowMs: number, random: RandomBytes): string {
  return `R${timeOrdered(nowMs, random)}`
}

export function makeDisputeId(nowMs: number, random: RandomBytes): string {
  return `D${timeOrdered(nowMs, random)}`
}

export function makeTransactionId(nowMs: number, random: RandomBytes): string {
  return `T${timeOrdered(nowMs, random)}`
}

/** The id gives access to the link's page; its 80 random bits prevent guessing. */
export function makeLinkId(nowMs: number, random: RandomBytes): string {
  return `L${timeOrdered(nowMs, random)}`
}

/** UUID version 7 (RFC 9562). */
export function makeUuid(nowMs: number, random: RandomBytes): string {
  const time = nowMs.toString(16).padStart(12, '0')
  const bytes = random(randomBytesPerId)
  const version = 0x7000 | (byteAt(bytes, 0) << 4) | (byteAt(bytes, 1) & 0x0f)
  const variant = 0x8000 | ((byteAt(bytes, 2) & 0x3f) << 8) | byteAt(bytes, 3)
  let tail = ''
  for (let i = 4; i < randomBytesPerId; i++) tail += byteAt(bytes, i).toString(16).padStart(2, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-${version.toString(16)}-${variant.toString(16)}-${tail}`
}

/** The `id` of a callback. */
export const makeCallbackId = makeUuid

function timeOrdered(nowMs: number, random: RandomBytes): string {
  const bytes = random(randomBytesPerId)
  return asDigits(nowMs, 10) + asDigits(fiveBytes(bytes, 0), 8) + asDigits(fiveBytes(bytes, 5), 8)
}

/** Exactly eight base-32 digits. */
function fiveBytes(bytes: Uint8Array, start: number): number {
  let value = 0
  for (let i = 0; i < 5; i++) value = value * 256 + byteAt(bytes, start + i)
  return value
}

function asDigits(value: number, digits: number): string {
  let text = ''
  for (let rest = value, i = 0; i < digits; i += 2, rest = Math.floor(rest / 1024))
    text = digitPairs[rest % 1024] + text
  return text
}

function byteAt(bytes: Uint8Array, index: number): number {
  const byte = bytes[index]
  if (byte === undefined) throw new RangeError('the source of randomness gave fewer bytes than asked for')
  return byte
}
