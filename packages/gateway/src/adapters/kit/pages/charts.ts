// Line charts rendered by the server: lines over an axis that starts at zero, a legend above, and the figures in a
// collapsed table. The picture is as wide as the page and its text is HTML, so that it stays readable on a phone. Each
// point is a column that shows its figures on hover and focus, without a script. Unknown values are gaps; the last
// point, which is still in progress, is dashed.
import { type Content, type Html, html } from '../html.ts'
import { number, table } from './tables.ts'

export interface Line {
  readonly label: string
  readonly look: 'first' | 'second' | 'before'
  /** One per point, for the line and as text. */
  readonly values: readonly (number | undefined)[]
  readonly texts: readonly Content[]
  /** Shown beside the label: the sum, or the share of all. */
  readonly whole: Content
}

export interface Chart {
  /** The id of the collapsed table; unique on the page. */
  readonly id: string
  readonly title: string
  /** When each point starts. */
  readonly times: readonly string[]
  readonly lines: readonly Line[]
  /** The maximum of the axis; undefined for a round value above all values. */
  readonly top?: number
  readonly write: (value: number) => string
  /** English by default. */
  readonly words?: { readonly table: string; readonly none: string; readonly now: string }
}

const english = { table: 'Table', none: 'Nothing in this time', now: 'now' }

/** In units of the picture, which is stretched to the width of the page. */
const size = { column: 10, height: 100 } as const

export function chart({ id, title, times, lines, top: wanted, write, words = english }: Chart): Html {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== undefined))
  const top = wanted ?? roundCeiling(Math.max(0, ...known))
  const y = (value: number) => Math.round((1 - value / top) * size.height * 10) / 10
  const named = times.map((time, index) => (index === times.length - 1 ? `${time}, ${words.now}` : time))
  const half = Math.floor(times.length / 2)
  const key = ({ label, look }: Line, text: Content) =>
    html`<span><i class="${look}"></i>${label} <b>${text}</b></span> `
  return html`<figure class="chart"><figcaption><strong>${title}</strong> ${lines.length === 1 && lines[0]?.label === title ? html`<b>${lines[0].whole}</b>` : lines.map((line) => key(line, line.whole))}</figcaption>
<div class="plot"><div class="scale" aria-hidden="true">${[top, top / 2, 0].map((value) => html`<span>${write(value)}</span>`)}</div>
<div class="lines"><svg viewBox="0 0 ${times.length * size.column} ${size.height}" preserveAspectRatio="none" aria-hidden="true">
${lines.toReversed().map(({ values, look }) => drawn(values, { y, look }))}</svg>
${known.length === 0 && html`<p class="quiet small">${words.none}</p>`}
<ol>${named.map((time, index) => html`<li tabindex="0"${index >= half && html` class="late"`}><span class="tip"><strong>${time}</strong> ${lines.map((line) => key(line, line.texts[index]))}</span></li>`)}</ol></div>
<div class="times" aria-hidden="true"><span>${times[0]}</span><span>${times[half]}</span><span>${words.now}</span></div></div>
<details class="behind" id="${id}"><summary>${words.table}</summary>${table(
    title,
    ['UTC', ...lines.map(({ label }) => number(label))],
    named
      .map((time, index) => [
        html`<span class="nowrap">${time}</span>`,
        ...lines.map(({ texts }) => texts[index]),
      ])
      .toReversed(),
    { isMatrix: true },
  )}</details></figure>`
}

function drawn(
  values: readonly (number | undefined)[],
  { y, look }: { y: (value: number) => number; look: string },
): Html {
  const place = (index: number) => `${(index + 0.5) * size.column} ${y(values[index] ?? 0)}`
  const last = values.length - 1
  let path = ''
  for (const [index, value] of values.entries()) {
    if (value === undefined || (index === last && last > 0)) continue
    const isJoined = values[index - 1] !== undefined
    // An isolated value is a line of zero length, which round caps show as a dot.
    path += `${isJoined ? 'L' : 'M'}${place(index)}${!isJoined && values[index + 1] === undefined ? 'h0' : ''}`
  }
  const running = values[last] !== undefined && last > 0
  const from = values[last - 1] === undefined ? last : last - 1
  return html`<path class="${look}" d="${path}"/>${running && html`<path class="running ${look}" d="M${place(from)}L${place(last)}"/>`}`
}

const goodSteps = [2, 4, 6, 10, 20]

/** For counts and amounts: a round number with a round half. */
export function roundCeiling(value: number): number {
  if (value <= 2) return 2
  const unit = 10 ** Math.floor(Math.log10(value))
  return unit * (goodSteps.find((step) => step * unit >= value) ?? 20)
}
