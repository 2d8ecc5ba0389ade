// Ids start with their time, so a time range becomes a key range.

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export function firstPaymentIdAt(timeMs: number): string {
  let time = ''
  for (let rest = Math.max(0, timeMs), i = 0; i < 10; i++, rest = Math.floor(rest / 32))
    time = digits.charAt(rest % 32) + time
  return `P${time}`
}

export function firstCallbackIdAt(timeMs: number): string {
  const time = Math.max(0, timeMs).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

export function timeOfPaymentId(paymentId: string): number {
  let timeMs = 0
  for (const digit of paymentId.slice(1, 11)) timeMs = timeMs * 32 + digits.indexOf(digit)
  return timeMs
}

export function timeOfCallbackId(callbackId: string): number {
  return Number.parseInt(callbackId.slice(0, 13).replace('-', ''), 16)
}
