// Tables with sticky headers, pages by key, lists of names with values, and empty states.
import { type Content, type Html, html } from '../html.ts'
import { type IconName, icon } from '../icons.ts'

export interface Column {
  readonly head: Content
  readonly isNumber?: boolean
}

export function number(head: Content): Column {
  return { head, isNumber: true }
}

export interface TableOptions {
  /** The main table of a page: the page scrolls, and the headers stay in sight. Others scroll sideways. */
  readonly isTall?: boolean
  /** Its columns are compared, so it stays a table on a phone; others become cards. */
  readonly isMatrix?: boolean
  /** A click opens the link of the first cell. On a phone, a row shows its first four cells, two per line. */
  readonly isList?: boolean
  /** Shown instead of an empty table. */
  readonly none?: Content
}

export function table(
  caption: string,
  columns: readonly (string | Column)[],
  rows: readonly (readonly Content[])[],
  { isTall = false, isMatrix = false, isList = false, none }: TableOptions = {},
): Html {
  if (rows.length === 0 && none !== undefined) return empty(none)
  const all = columns.map((column): Column => (typeof column === 'string' ? { head: column } : column))
  return html`<div class="scroll${isTall && html` tall`}${isList ? html` rows` : !isMatrix && html` cards`}" tabindex="0" role="region" aria-label="${caption}"><table><caption class="hidden">${caption}</caption>
<thead><tr>${all.map(({ head, isNumber }) => html`<th scope="col"${isNumber && html` class="number"`}>${head}</th>`)}</tr></thead>
<tbody>${rows.map(
    (cells) => html`<tr>${cells.map((cell, index) => cellOf(cell, all[index]))}</tr>
`,
  )}</tbody></table></div>`
}

/** On a card, the column's header stands beside the cell. */
function cellOf(cell: Content, { head, isNumber }: Column = { head: '' }): Html {
  const label = typeof head === 'string' && head !== '' && html` data-head="${head}"`
  return html`<td${isNumber && html` class="number"`}${label}>${cell}</td>`
}

export function empty(text: Content): Html {
  return html`<p class="empty">${text}</p>`
}

/** Of a list that has nothing yet: what it is for, and the next step. */
export function emptyState(
  named: IconName,
  { heading, text, next }: { readonly heading: Content; readonly text?: Content; readonly next?: Content },
): Html {
  return html`<div class="empty">${icon(named)}<h2>${heading}</h2>${text && html`<p>${text}</p>`}${next}</div>`
}

export function facts(rows: readonly (readonly [Content, Content] | undefined | false)[]): Html {
  return html`<dl class="facts">${rows.map(
    (row) =>
      row &&
      html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>
`,
  )}</dl>`
}

/** The same page with other parameters; undefined and empty ones are omitted. */
export function urlWith(
  path: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name)
    else next.set(name, value)
  }
  for (const [name, value] of [...next]) if (value === '') next.delete(name)
  const text = next.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The number of rows before a page, from its address; invalid values count as none. */
export function rowsBefore(written: string | null): number {
  return /^\d{1,9}$/.test(written ?? '') ? Number(written) : 0
}

/** For a page whose filter matches nothing. */
export function noneFits(what: string, path: string): Html {
  return html`No matching ${what}. <a href="${path}">Show all</a>`
}

/** A choice of one of a few, each with its own address. */
export function segments(
  label: string,
  current: string | undefined,
  choices: readonly (readonly [name: string, label: Content, url: string])[],
): Html {
  return html`<nav class="segments" aria-label="${label}"><ul>${choices.map(
    ([name, words, url]) =>
      html`<li><a href="${url}"${name === current && html` aria-current="true"`}>${words}</a></li>`,
  )}</ul></nav>`
}

export function pages(
  path: string,
  query: URLSearchParams,
  {
    older,
    words = { older: 'Older', newest: 'Newest' },
  }: { older: string | undefined; words?: { readonly older: string; readonly newest: string } },
): Html | undefined {
  const isFirst = !query.has('before')
  if (isFirst && older === undefined) return undefined
  return html`<nav class="pages" aria-label="${words.older}"><span>${!isFirst && html`<a class="button" href="${urlWith(path, query, { before: undefined })}">${words.newest}</a>`}</span>
<span>${older !== undefined && html`<a class="button" rel="next" href="${urlWith(path, query, { before: older })}">${words.older}${icon('chevron-right')}</a>`}</span></nav>`
}
