// A consumer's wallet, and the validation of logins and PINs.
import { Failure, type RandomBytes } from '@tillgate/protocol'
import { isVisible } from '../../../platform/runtime/visible-text.ts'
import type { EmailLanguage } from '../../emails/rules/email.ts'

export interface Wallet {
  readonly walletId: string
  /** A phone number in E.164 form, or a lowercase email address. */
  readonly login: string
  readonly name: string
  /** Locked by an operator: no sign-in and no payments. Closed: permanent, with name and login erased. */
  readonly status: 'active' | 'locked' | 'closed'
  /** Wrong PINs from unknown devices since the last correct one; known devices have their own count. */
  readonly tries: number
  /** The end of a lock after too many wrong tries. */
  readonly lockedUntilMs: number | undefined
  /** For the sandbox's test wallets only. */
  readonly behaviour: Behaviour | undefined
  readonly createdAtMs: number
  /** Incremented when all access is revoked, which invalidates earlier sign-ins. */
  readonly accessVersion: number
  /** The language of emails; undefined: English. */
  readonly language?: EmailLanguage | undefined
  /** Undefined: an operator entered the login. */
  readonly confirmedAtMs?: number | undefined
}

/** The sealed mark that a sign-in leaves in a browser. */
export interface KnownDevice {
  /** Identifies the device's own count of tries; undefined if no PIN was entered in it. */
  readonly deviceId?: string | undefined
  readonly walletId: string
  /** Revoking all access invalidates the mark. */
  readonly accessVersion: number
}

export function isDeviceOf(
  device: KnownDevice | undefined,
  wallet: Pick<Wallet, 'walletId' | 'accessVersion'> | undefined,
): device is KnownDevice {
  if (!device || !wallet) return false
  return device.walletId === wallet.walletId && device.accessVersion === wallet.accessVersion
}

export interface NewWallet
  extends Pick<
    Wallet,
    'walletId' | 'login' | 'name' | 'behaviour' | 'createdAtMs' | 'language' | 'confirmedAtMs'
  > {
  readonly sealedPin: Buffer
}

export const behaviours = {
  approves: 'Pays at once.',
  declines: 'The payment is declined.',
  too_little_money: 'Insufficient funds for any order.',
  confirms_later: 'Pays after five seconds.',
  refund_fails: 'Pays at once; a refund of it fails.',
  stays_confirming: 'The payment stays in processing.',
} as const satisfies Record<string, string>

export type Behaviour = keyof typeof behaviours

const maxLoginLength = 254

const phonePattern = /^\+[1-9][0-9]{6,14}$/
const emailPattern = /^[^\s@,;<>"()]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/
const pinPattern = /^[0-9]{4,12}$/
/** Older PINs of four and five digits stay valid. */
const newPinPattern = /^[0-9]{6,12}$/

/** Normalizes a login; undefined if it is invalid. */
export function normaliseLogin(text: string): string | undefined {
  const trimmed = text.normalize('NFKC').trim()
  const phone = trimmed.replace(/[\s().-]/g, '').replace(/^00/, '+')
  if (phonePattern.test(phone)) return phone
  const email = trimmed.toLowerCase()
  return email.length <= maxLoginLength && emailPattern.test(email) && isVisible(email) ? email : undefined
}

/** A sealed PIN can be opened only for this place. */
export function placeOfPin(walletId: string): string {
  return `PIN of wallet ${walletId}`
}

export function isPin(text: string): boolean {
  return pinPattern.test(text)
}

export function isNewPin(text: string): boolean {
  return newPinPattern.test(text)
}

/** Of a new wallet. Other letters can look like another wallet's login to whoever approves a top-up of it. */
export function parseLogin(text: string): string {
  const login = normaliseLogin(text)
  if (login !== undefined && /^[\x21-\x7e]+$/.test(login)) return login
  throw new Failure('invalid_field', {
    field: 'login',
    message:
      'login must be a phone number with its country code, such as +4915112345678, or an email address in ASCII characters.',
  })
}

export function parseNewPin(text: string): string {
  const weakness = weaknessOfPin(text)
  if (isNewPin(text) && weakness === undefined) return text
  const message = weakness === undefined ? 'The PIN must be 6 to 12 digits.' : weakPins[weakness]
  throw new Failure('invalid_field', { field: 'pin', message })
}

const weakPins = {
  repeated: 'The PIN is too easy to guess because it repeats digits. Choose another PIN.',
  run: 'The PIN is too easy to guess because it is a sequence such as 123456. Choose another PIN.',
  date: 'The PIN is too easy to guess because it looks like a date. Choose another PIN.',
} as const

export type PinWeakness = keyof typeof weakPins

/** Common guesses. Existing PINs stay valid. */
export function weaknessOfPin(pin: string): PinWeakness | undefined {
  if (!isNewPin(pin)) return undefined
  if (new Set(pin).size <= 2 || /^(\d+)\1+$/.test(pin)) return 'repeated'
  const middle = Math.floor(pin.length / 2)
  if (isRun(pin) || (isRun(pin.slice(0, middle)) && isRun(pin.slice(middle)))) return 'run'
  return isDate(pin) ? 'date' : undefined
}

/** Each digit is one above or one below the previous, or equal; 0 and 9 are neighbors. */
function isRun(digits: string): boolean {
  const steps = new Set(
    [...digits.slice(1)].map((digit, index) => (Number(digit) - Number(digits[index]) + 10) % 10),
  )
  return steps.size === 1 && [0, 1, 9].some((step) => steps.has(step))
}

const datePatterns = [
  /^(?<day>\d\d)(?<month>\d\d)(?:19|20)?\d\d$/,
  /^(?<month>\d\d)(?<day>\d\d)(?:19|20)?\d\d$/,
  /^(?:19|20)?\d\d(?<month>\d\d)(?<day>\d\d)$/,
]

function isDate(pin: string): boolean {
  return datePatterns.some((pattern) => {
    const { day = '', month = '' } = pattern.exec(pin)?.groups ?? {}
    return Number(day) >= 1 && Number(day) <= 31 && Number(month) >= 1 && Number(month) <= 12
  })
}

export function randomDigits(count: number, random: RandomBytes): string {
  let digits = ''
  while (digits.length < count) {
    for (const byte of random(count)) {
      // 250 is the largest multiple of ten in a byte; larger values would bias the digits.
      if (byte < 250 && digits.length < count) digits += byte % 10
    }
  }
  return digits
}

/** Not a valid login, so it cannot sign in. */
export function loginOfClosed(walletId: string): string {
  return `closed ${walletId}`
}

/** Locked by an operator or by wrong PINs. */
export function isWalletShut({ status, lockedUntilMs }: Wallet, nowMs: number): boolean {
  return status !== 'active' || (lockedUntilMs !== undefined && lockedUntilMs > nowMs)
}
