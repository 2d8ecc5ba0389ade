// Creates emails, which are stored with their cause. Without a mail server there are none, and a link is shown on the
// page instead.
import { makeUuid } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { type EmailLanguage, giveUpAfterMs, type NewEmail, placeOfLink } from './rules/email.ts'
import type { EmailKind, EmailParameters } from './rules/kinds.ts'

export interface EmailGiven<K extends EmailKind> {
  readonly parameters: EmailParameters<K>
  readonly merchantId?: string | undefined
  /** For a kind addressed to a person: a normalized address. */
  readonly to?: { readonly email: string; readonly language: EmailLanguage }
  /** A secret: sealed until the email is sent, then wiped. */
  readonly link?: string
  readonly giveUpAtMs?: number
  /** Limits the email to one per key, which names its subject and period. */
  readonly onceKey?: string
}

export type MakeEmails = <K extends EmailKind>(kind: K, given: EmailGiven<K>) => readonly NewEmail[]

export interface MakeEmailsParts extends ClockAndRandom {
  readonly vault: Vault
  readonly isMailing: boolean
}

export function makeMakeEmails({ vault, clock, random, isMailing }: MakeEmailsParts): MakeEmails {
  return (kind, given) => {
    if (!isMailing) return []
    const { parameters, merchantId, to, link, giveUpAtMs, onceKey } = given
    const createdAtMs = clock.now()
    const emailId = makeUuid(createdAtMs, random)
    return [
      {
        emailId,
        kind,
        merchantId,
        recipient: to?.email,
        language: to?.language ?? 'en',
        parameters,
        sealedLink: link === undefined ? undefined : vault.seal(Buffer.from(link), placeOfLink(emailId)),
        onceKey: onceKey === undefined ? undefined : `${kind} ${onceKey}`,
        createdAtMs,
        giveUpAtMs: Math.min(giveUpAtMs ?? Number.POSITIVE_INFINITY, createdAtMs + giveUpAfterMs),
      },
    ]
  }
}
