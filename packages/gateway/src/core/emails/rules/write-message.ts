// Renders an email as plain text and as plain HTML, without images or tracking. Parameters are one line without
// control characters, escaped in HTML.
import { isVisible, withoutHidden } from '../../../platform/runtime/visible-text.ts'
import type { EmailLanguage } from './email.ts'
import { type EmailKind, kindOf } from './kinds.ts'
import { localize } from './localize.ts'
import { type EmailText, textOf, wordsOf } from './texts.ts'

export interface ToWrite {
  readonly kind: EmailKind
  readonly language: EmailLanguage
  readonly parameters: Readonly<Record<string, string>>
  readonly link: string | undefined
  readonly unsubscribeUrl: string | undefined
}

export interface WrittenMessage {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const maxSubjectLength = 180

export function writeMessage({ kind, language, parameters, link, unsubscribeUrl }: ToWrite): WrittenMessage {
  const words = textOf(kind, language)
  const { frame } = wordsOf[language]
  const local = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, localize(name, oneLine(value), language)]),
  )
  const fill = (template: string) => fillGaps(template, local)
  const body = words.body.map(fill)
  return {
    subject: [...fill(words.subject)].slice(0, maxSubjectLength).join(''),
    text: [
      ...body,
      ...(link === undefined ? [] : [`${words.link}:\n${link}`]),
      `-- \n${frame.automatic}`,
      ...(unsubscribeUrl === undefined ? [] : [`${frame.unsubscribe}:\n${unsubscribeUrl}`]),
    ].join('\n\n'),
    html: [
      '<!doctype html>',
      `<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}"><head><meta charset="utf-8"></head>`,
      '<body style="font:16px/1.5 system-ui,sans-serif;max-width:36rem">',
      ...body.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
      ...(link === undefined
        ? []
        : [`<p>${kindOf(kind).isCode ? codeOf(link, words) : anchor(link, words.link ?? link)}</p>`]),
      '<hr>',
      `<p style="font-size:13px">${escapeHtml(frame.automatic)}`,
      ...(unsubscribeUrl === undefined ? [] : [`<br>${anchor(unsubscribeUrl, frame.unsubscribe)}`]),
      '</p></body></html>',
    ].join('\n'),
  }
}

function fillGaps(template: string, parameters: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (value === undefined) throw new Error(`"${template}" is filled without ${name}`)
    return value
  })
}

function oneLine(value: string): string {
  return isVisible(value) ? value : withoutHidden(value).replaceAll('\n', ' ')
}

function codeOf(code: string, { link: label = '' }: EmailText): string {
  return `${escapeHtml(label)}: <strong style="font-size:22px">${escapeHtml(code)}</strong>`
}

function anchor(url: string, label: string): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`
}

const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => references[character] ?? character)
}
