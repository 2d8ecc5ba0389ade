// Parts shared by the portal's pages: cards, facts, statuses, times, and links to older entries.
import { type Content, type Html, html } from '../kit/html.ts'
import { fill } from '../kit/languages/words.ts'
import { statusPill } from '../kit/pages/status.ts'
import { pages as keyedPages } from '../kit/pages/tables.ts'
import type { Language } from './languages.ts'
import { mayUse, pathTo, type Visit } from './portal.ts'
import type { ActionName, Words } from './words.ts'

export function card(heading: Content, content: Content): Html {
  return html`<section class="card"><h2>${heading}</h2>${content}</section>`
}

type StatusName = keyof Words['status']

export function status(name: StatusName, { words }: Language): Html {
  return statusPill(name, words.status[name])
}

export function time(timeMs: number, { formats }: Language): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}">${formats.time(timeMs)}</time>`
}

const dayMs = 86_400_000

/** "3 minutes ago", with the exact time on hover; the day of what is older. */
export function ago(
  timeMs: number,
  { language: { formats }, nowMs }: { readonly language: Pick<Language, 'formats'>; readonly nowMs: number },
): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}" title="${formats.time(timeMs)}">${nowMs - timeMs < dayMs ? formats.ago(nowMs - timeMs) : formats.day(timeMs)}</time>`
}

/** Shortened in the middle, complete on hover; the page of the item has the complete id for copying. */
export function shortId(id: string): Html {
  return id.length <= 16
    ? html`<code>${id}</code>`
    : html`<code title="${id}">${id.slice(0, 8)}…${id.slice(-6)}</code>`
}

/** A button to the screen of an action, for permitted roles. */
export function actLink(
  visit: Visit,
  name: ActionName,
  values: Readonly<Record<string, string>> = {},
  { isPrimary = false, label }: { readonly isPrimary?: boolean; readonly label?: string } = {},
): Html | undefined {
  const found = visit.catalog.flatMap(({ portal }) => portal).find((form) => form.name === name)
  if (!found || !mayUse(found, visit.member)) return undefined
  return html`<a class="button${isPrimary ? ' primary' : found.isDangerous && ' danger'}" href="${pathTo(found.path, values)}">${label ?? visit.language.words.acts[name].title}</a>`
}

/** Undefined without links, so that no empty container remains. */
export function acts(...links: readonly (Html | undefined | false)[]): Html | undefined {
  return links.some(Boolean) ? html`<div class="acts">${links.filter(Boolean)}</div>` : undefined
}

export function pages(
  { query, language: { words } }: Visit,
  { path, older }: { readonly path: string; readonly older: string | undefined },
): Html | undefined {
  return keyedPages(pathTo(path), query, { older, words: words.common })
}

/** The pages of an area as tabs. */
export function tabs(
  { language: { words } }: Visit,
  names: readonly (keyof Words['tabs'])[],
  current: keyof Words['tabs'],
): Html {
  return html`<nav class="tabs" aria-label="${words.nav[areaOfTabs[names[0] ?? ''] ?? 'shop']}"><ul>${names.map(
    (name) =>
      html`<li><a href="${pathTo(`/${name}`)}"${name === current && html` aria-current="page"`}>${words.tabs[name]}</a></li>`,
  )}</ul></nav>`
}

const areaOfTabs: Readonly<Record<string, keyof Words['nav']>> = {
  keys: 'developer',
  money: 'money',
  orders: 'orders',
}
export const moneyTabs = ['money', 'bills', 'payouts', 'disputes', 'bank', 'fees'] as const
export const orderTabs = ['orders', 'links'] as const
export const developerTabs = ['keys', 'callbacks', 'endpoints', 'requests'] as const
export const shopTabs = ['settings', 'members', 'account'] as const

/** For a limited count: "100 or more". */
export function countUpTo(count: number, atMost: number, { words, formats }: Language): Content {
  return count < atMost ? formats.number(count) : fill(words.common.orMore, { count: formats.number(atMost) })
}
