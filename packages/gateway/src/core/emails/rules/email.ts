// An email from its cause to its end: states, retries and valid addresses.
import { Failure } from '@tillgate/protocol'
import type { Sending } from '../../../platform/runtime/outside/mail.ts'
import { type EmailKind, isEmailKind, kindOf } from './kinds.ts'

export const emailLanguages = ['en', 'zh', 'ja', 'es', 'fr', 'de', 'pt', 'ar'] as const
export type EmailLanguage = (typeof emailLanguages)[number]

/** `refused`: the mail server rejected it permanently. `given_up`: it could not be sent in time. */
export const emailStates = ['queued', 'sent', 'refused', 'given_up'] as const
export type EmailState = (typeof emailStates)[number]

export interface Recipient {
  readonly email: string
  readonly language: EmailLanguage
  readonly merchant?: string | undefined
}

/** Written in the transaction of its cause. */
export interface NewEmail {
  readonly emailId: string
  readonly kind: EmailKind
  readonly merchantId: string | undefined
  /** Undefined: recipients of this kind are looked up at sending time. */
  readonly recipient: string | undefined
  readonly language: EmailLanguage
  readonly parameters: Readonly<Record<string, string>>
  readonly sealedLink: Buffer | undefined
  /** A second email with the same key is not stored. */
  readonly onceKey: string | undefined
  readonly createdAtMs: number
  readonly giveUpAtMs: number
}

export interface Email extends Omit<NewEmail, 'sealedLink' | 'onceKey'> {
  readonly state: EmailState
  readonly dueAtMs: number | undefined
  readonly attempts: number
  readonly lastError: string | undefined
  readonly endedAtMs: number | undefined
}

export interface ClaimedEmail extends NewEmail {
  /** Every write carries the claim, so a worker that lost its claim writes nothing. */
  readonly claimId: string
  /** Includes the current one. */
  readonly attempts: number
}

export interface EmailOutcome {
  readonly state: EmailState
  readonly error: string | undefined
  readonly dueAtMs: number | undefined
  readonly isAddressForgotten: boolean
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** The last value repeats. */
const retryAfterMs = [
  ...[minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs],
] as const
export const giveUpAfterMs = 72 * hourMs

export function retryDelayMs(attempts: number): number {
  return retryAfterMs[Math.min(attempts, retryAfterMs.length) - 1] ?? retryAfterMs[0]
}

/**
 * An email ends at its own limit, such as a code's expiry, or after three days of retries. The three days count only
 * if it was tried, because an untried email is still useful.
 */
export function isOver(
  { createdAtMs, giveUpAtMs }: Pick<NewEmail, 'createdAtMs' | 'giveUpAtMs'>,
  nowMs: number,
): boolean {
  return giveUpAtMs < createdAtMs + giveUpAfterMs && giveUpAtMs < nowMs
}

export function afterSending(email: ClaimedEmail, sending: Sending, nowMs: number): EmailOutcome {
  const ended = (state: EmailState, error?: string) => ({
    state,
    error,
    dueAtMs: undefined,
    // A newer gateway queued this unknown kind, so its address is not kept.
    isAddressForgotten: !isEmailKind(email.kind) || kindOf(email.kind).forgetsAddress === true,
  })
  if (sending.kind === 'accepted') return ended('sent')
  if (sending.kind === 'refused') return ended('refused', sending.reason)
  const dueAtMs = nowMs + retryDelayMs(email.attempts)
  if (dueAtMs > email.giveUpAtMs) return ended('given_up', sending.reason)
  return { state: 'queued', error: sending.reason, dueAtMs, isAddressForgotten: false }
}

/** The link, and a consumer's address, are wiped when the email ends; then it cannot be sent again. */
export function isRetryable({
  state,
  recipient,
  kind,
}: Pick<Email, 'state' | 'recipient' | 'kind'>): boolean {
  return (state === 'refused' || state === 'given_up') && recipient !== undefined && !kindOf(kind).hasLink
}

/** Where a sealed link belongs: it opens in this place alone. */
export function placeOfLink(emailId: string): string {
  return `link of email ${emailId}`
}

export function writtenTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export function writtenDay(atMs: number): string {
  return writtenTime(atMs).slice(0, 10)
}

const domainLabel = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const emailPattern = new RegExp(
  `^(?=.{3,254}$)(?!\\.)[a-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}(?<!\\.)@${domainLabel}(?:\\.${domainLabel})*$`,
  // Without the flag u, which would match the Kelvin sign as k: a different mailbox.
  'i',
)

/** Returns undefined for an invalid address or one that some mail servers reject. */
export function normaliseEmail(text: string): string | undefined {
  const email = text.trim()
  return emailPattern.test(email) && !email.includes('..') ? email.toLowerCase() : undefined
}

export function parseEmail(text: string, field: string): string {
  const email = normaliseEmail(text)
  if (email !== undefined) return email
  throw new Failure('invalid_field', {
    field,
    message: 'Enter an email address, such as alice@example.com. Use only ASCII letters.',
  })
}
