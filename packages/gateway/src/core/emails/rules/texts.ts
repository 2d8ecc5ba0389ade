// The texts of emails in every language; operators' emails are in English only.
import ar from '../../../../locales/emails/ar.json' with { type: 'json' }
import de from '../../../../locales/emails/de.json' with { type: 'json' }
import en from '../../../../locales/emails/en.json' with { type: 'json' }
import es from '../../../../locales/emails/es.json' with { type: 'json' }
import fr from '../../../../locales/emails/fr.json' with { type: 'json' }
import ja from '../../../../locales/emails/ja.json' with { type: 'json' }
import pt from '../../../../locales/emails/pt.json' with { type: 'json' }
import zh from '../../../../locales/emails/zh.json' with { type: 'json' }
import enForOperators from '../../../../locales/operator-emails/en.json' with { type: 'json' }
import type { EmailLanguage } from './email.ts'
import { type EmailKind, kindOf, type OperatorKind } from './kinds.ts'

export interface EmailText {
  readonly subject: string
  readonly body: readonly string[]
  readonly link?: string
}

/** `frame` is the footer of every email. */
type EmailWords = typeof en & Readonly<Record<Exclude<EmailKind, OperatorKind>, EmailText>>

export const wordsOf: Readonly<Record<EmailLanguage, EmailWords>> = { en, zh, ja, es, fr, de, pt, ar }

export function textOf(kind: EmailKind, language: EmailLanguage): EmailText {
  // Safe: operators' kinds are those with this audience.
  if (kindOf(kind).audience === 'operators') return enForOperators[kind as OperatorKind]
  return wordsOf[language][kind as Exclude<EmailKind, OperatorKind>]
}
