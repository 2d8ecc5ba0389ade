// Turns off one kind of email for one address by its unsubscribe link, whose token binds both.
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { EmailLanguage } from './rules/email.ts'
import { type EmailKind, isEmailKind, kindOf } from './rules/kinds.ts'
import type { EmailStore } from './store/emails.ts'

export const unsubscribePath = '/emails/unsubscribe'

export interface UnsubscribeParts {
  readonly emails: Pick<EmailStore, 'optOut'>
  readonly tokens: Tokens
  readonly publicUrl: string
  readonly clock: Clock
}

export interface UnsubscribeLink {
  readonly kind: string
  readonly email: string
  readonly token: string
}

export type Unsubscribe = ReturnType<typeof makeUnsubscribe>

export function makeUnsubscribe({ emails, tokens, publicUrl, clock }: UnsubscribeParts) {
  const isRight = ({ kind, email, token }: UnsubscribeLink): boolean =>
    isEmailKind(kind) && kindOf(kind).isOptional && tokens.isRight(token, ['unsubscribe', kind, email])
  return {
    isRight,

    /** Undefined for kinds that cannot be turned off. */
    urlFor(given: { kind: EmailKind; email: string; language: EmailLanguage }): string | undefined {
      const { kind, email, language } = given
      if (!kindOf(kind).isOptional) return undefined
      const token = tokens.make(['unsubscribe', kind, email])
      return `${publicUrl}${unsubscribePath}?${new URLSearchParams({ kind, email, token, lang: language })}`
    },

    async optOut(link: UnsubscribeLink): Promise<boolean> {
      if (!isRight(link)) return false
      await emails.optOut(link, clock.now())
      return true
    },
  }
}
