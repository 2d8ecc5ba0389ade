// A reader switches a kind of notice off, by the link under it: the address carries a token that only this gateway makes,
// for this reader and this kind, so nobody switches off what another should hear.
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import { isNoticeKind, kindOf, type NoticeKind } from './rules/kinds.ts'
import type { NoticeLanguage } from './rules/notice.ts'
import type { NoticeStore } from './store/notices.ts'

export const unsubscribePath = '/notices/unsubscribe'

export interface UnsubscribeParts {
  readonly notices: Pick<NoticeStore, 'optOut'>
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

export function makeUnsubscribe({ notices, tokens, publicUrl, clock }: UnsubscribeParts) {
  const isRight = ({ kind, email, token }: UnsubscribeLink): boolean =>
    isNoticeKind(kind) && kindOf(kind).isOptional && tokens.isRight(token, ['unsubscribe', kind, email])
  return {
    isRight,

    /** Undefined for what cannot be switched off. */
    urlFor(given: { kind: NoticeKind; email: string; language: NoticeLanguage }): string | undefined {
      const { kind, email, language } = given
      if (!kindOf(kind).isOptional) return undefined
      const token = tokens.make(['unsubscribe', kind, email])
      return `${publicUrl}${unsubscribePath}?${new URLSearchParams({ kind, email, token, lang: language })}`
    },

    /** False: the link is not ours. */
    async optOut(link: UnsubscribeLink): Promise<boolean> {
      if (!isRight(link)) return false
      await notices.optOut(link, clock.now())
      return true
    },
  }
}
