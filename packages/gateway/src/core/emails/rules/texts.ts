// The texts of notices in every language; those for operators are in English alone.
import ar from '../../../../locales/emails/ar.json' with { type: 'json' }
import de from '../../../../locales/emails/de.json' with { type: 'json' }
import en from '../../../../locales/emails/en.json' with { type: 'json' }
import es from '../../../../locales/emails/es.json' with { type: 'json' }
import fr from '../../../../locales/emails/fr.json' with { type: 'json' }
import ja from '../../../../locales/emails/ja.json' with { type: 'json' }
import pt from '../../../../locales/emails/pt.json' with { type: 'json' }
import zh from '../../../../locales/emails/zh.json' with { type: 'json' }
import enForOperators from '../../../../locales/operator-emails/en.json' with { type: 'json' }
import { kindOf, type NoticeKind, type OperatorKind } from './kinds.ts'
import type { NoticeLanguage } from './notice.ts'

export interface NoticeText {
  readonly subject: string
  /** Paragraphs. */
  readonly body: readonly string[]
  /** The label of the link or code, where there is one. */
  readonly link?: string
}

/** The texts of every kind, and `frame`: what stands under each of them. */
type NoticeWords = typeof en & Readonly<Record<Exclude<NoticeKind, OperatorKind>, NoticeText>>

export const wordsOf: Readonly<Record<NoticeLanguage, NoticeWords>> = { en, zh, ja, es, fr, de, pt, ar }

export function textOf(kind: NoticeKind, language: NoticeLanguage): NoticeText {
  // Safe, both: the kinds for operators are those whose audience they are.
  if (kindOf(kind).audience === 'operators') return enForOperators[kind as OperatorKind]
  return wordsOf[language][kind as Exclude<NoticeKind, OperatorKind>]
}
