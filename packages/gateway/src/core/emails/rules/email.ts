// An email from its cause to its end, when it is tried again, and what can be an address.
import { Failure } from '@tillgate/protocol'
import type { Sending } from '../../../platform/runtime/outside/mail.ts'
import { type EmailKind, isEmailKind, kindOf } from './kinds.ts'

export const emailLanguages = ['en', 'zh', 'ja', 'es', 'fr', 'de', 'pt', 'ar'] as const
export type EmailLanguage = (typeof emailLanguages)[number]

/** `refused`: the mail server will never take it. `given_up`: it could not be sent in time. */
export const emailStates = ['queued', 'sent', 'refused', 'given_up'] as const
export type EmailState = (typeof emailStates)[number]

export interface Recipient {
  readonly email: string
  readonly language: EmailLanguage
  /** The name of the merchant that hears it. */
  readonly merchant?: string | undefined
}

/** To be written in the transaction of what it tells of. */
export interface NewEmail {
  readonly emailId: string
  readonly kind: EmailKind
  readonly merchantId: string | undefined
  /** Undefined: whoever hears this kind is looked up when it is sent. */
  readonly recipient: string | undefined
  readonly language: EmailLanguage
  readonly parameters: Readonly<Record<string, string>>
  readonly sealedLink: Buffer | undefined
  /** A second one with the same key is not written. */
  readonly onceKey: string | undefined
  readonly createdAtMs: number
  readonly giveUpAtMs: number
}

export interface Email extends Omit<NewEmail, 'sealedLink' | 'onceKey'> {
  readonly state: EmailState
  readonly dueAtMs: number | undefined
  /** Those that were begun. */
  readonly attempts: number
  readonly lastError: string | undefined
  readonly endedAtMs: number | undefined
}

export interface ClaimedEmail extends NewEmail {
  /** Every write of the claim's holder carries it: who lost the claim writes nothing. */
  readonly claimId: string
  /** This one included. */
  readonly attempts: number
}

export interface EmailOutcome {
  readonly state: EmailState
  readonly error: string | undefined
  /** While it is queued. */
  readonly dueAtMs: number | undefined
  readonly isAddressForgotten: boolean
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** After so many attempts this long; then as long as the last. */
const retryAfterMs = [
  ...[minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs],
] as const
export const giveUpAfterMs = 72 * hourMs

export function retryDelayMs(attempts: number): number {
  return retryAfterMs[Math.min(attempts, retryAfterMs.length) - 1] ?? retryAfterMs[0]
}

/**
 * It has an end of its own, such as its code's, and that is past. The three days are for trying alone: what could not be
 * tried in them, because nothing ran, is still of use.
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
    // Of a kind that a newer gateway queued nothing is known: its address is not kept.
    isAddressForgotten: !isEmailKind(email.kind) || kindOf(email.kind).forgetsAddress === true,
  })
  if (sending.kind === 'accepted') return ended('sent')
  if (sending.kind === 'refused') return ended('refused', sending.reason)
  const dueAtMs = nowMs + retryDelayMs(email.attempts)
  if (dueAtMs > email.giveUpAtMs) return ended('given_up', sending.reason)
  return { state: 'queued', error: sending.reason, dueAtMs, isAddressForgotten: false }
}

/** A link is wiped when its email ends, and a consumer's address too: then there is nothing to send again. */
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

/** As the texts of every language write it. */
export function writtenTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** For what is told once a day. */
export function writtenDay(atMs: number): string {
  return writtenTime(atMs).slice(0, 10)
}

const domainLabel = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const emailPattern = new RegExp(
  `^(?=.{3,254}$)(?!\\.)[a-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}(?<!\\.)@${domainLabel}(?:\\.${domainLabel})*$`,
  // Without the flag u, which takes the Kelvin sign for a k: that is another mailbox.
  'i',
)

/** In small letters. Undefined: it is none, or one that not every mail server takes. */
export function normaliseEmail(text: string): string | undefined {
  const email = text.trim()
  return emailPattern.test(email) && !email.includes('..') ? email.toLowerCase() : undefined
}

export function parseEmail(text: string, field: string): string {
  const email = normaliseEmail(text)
  if (email !== undefined) return email
  throw new Failure('invalid_field', {
    field,
    message: 'This must be an e-mail address in plain letters, such as alice@example.com.',
  })
}
