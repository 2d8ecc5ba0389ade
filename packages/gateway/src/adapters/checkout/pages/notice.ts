// A flash message on the page after an action.
import { type Content, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { icon } from './icons.ts'
import type { View } from './view.ts'

const good: readonly string[] = ['receiptSent', 'pinChanged', 'goOn']

export function notice({ note, language, nowMs, rails }: View): Content {
  if (!note) return undefined
  // The consumer stays, because this page shows the account to pay to.
  if (note.code === 'goOn' && rails.open?.nextAction?.kind === 'instructions') return undefined
  const { notices } = language.words
  // A note from an older version of the gateway may have an unknown code.
  if (!Object.hasOwn(notices, note.code)) return undefined
  const when = note.untilMs === undefined ? '' : language.formats.inTime(note.untilMs - nowMs)
  const isGood = good.includes(note.code)
  return html`<p class="notice${isGood && ' good'}" role="${isGood ? 'status' : 'alert'}">${icon(isGood ? 'done' : 'notice')}<span id="notice">${fill(notices[note.code], { when })}${note.triesLeft !== undefined && ` ${language.formats.plural(language.words.signIn.triesLeft, note.triesLeft)}`}</span></p>`
}
