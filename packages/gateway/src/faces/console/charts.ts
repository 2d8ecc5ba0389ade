// Line charts as SVG, drawn here and not in the browser: thin lines, a label at the end of each, an axis that begins at
// zero, and the figures themselves in a table that folds out. Where nothing is known the line has a gap; the last
// stretch of time, which is still running, is dashed.
import { type Html, html } from '../../http/html.ts'

export interface Series {
  readonly label: string
  readonly values: readonly (number | undefined)[]
}

export interface Chart {
  /** Of the fold with the table; unique on the page. */
  readonly id: string
  readonly title: string
  /** The first is drawn in the accent colour; three at most. */
  readonly series: readonly Series[]
  /** Below the axis: at the left, in the middle; at the right is now. */
  readonly times: readonly [string, string]
  /** The smallest good end of the axis that holds this value. */
  readonly ceiling: (value: number) => number
  readonly write: (value: number) => string
  readonly table: Html
}

const size = { width: 340, height: 160 } as const
const plot = { left: 52, right: 276, top: 10, bottom: 134 } as const
const labelGap = 14
const looks = ['first', 'second', 'third'] as const

export function chart({ id, title, series, times, ceiling, write, table }: Chart): Html {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== undefined))
  const top = ceiling(Math.max(0, ...known))
  const y = (value: number) => plot.bottom - (value / top) * (plot.bottom - plot.top)
  const [left, middle] = times
  return html`<figure class="chart"><figcaption>${title}</figcaption>
<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${describe({ title, series, write })}">
${[0, top / 2, top].map((value) => html`<path class="rule" d="M${plot.left} ${at(y(value))}H${plot.right}"/><text class="scale" x="${plot.left - 6}" y="${at(y(value) + 4)}">${write(value)}</text>`)}
<text x="${plot.left}" y="${size.height - 6}">${left}</text><text class="middle" x="${(plot.left + plot.right) / 2}" y="${size.height - 6}">${middle}</text><text class="end" x="${plot.right}" y="${size.height - 6}">now</text>
${known.length === 0 && html`<text class="middle" x="${(plot.left + plot.right) / 2}" y="${(plot.top + plot.bottom) / 2}">Nothing in this time</text>`}
${series.map(({ values }, index) => line({ values, y, look: looks[index] ?? 'third' }))}
${labels(series, y).map(({ text, look, atY }) => html`<text class="label ${look}" x="${plot.right + 8}" y="${at(atY)}">${text}</text>`)}
</svg>
<details class="behind" id="${id}"><summary>Table</summary>${table}</details></figure>`
}

function line(options: {
  readonly values: Series['values']
  readonly y: (value: number) => number
  readonly look: string
}): Html {
  const { values, y, look } = options
  const x = (index: number) => plot.left + (index / Math.max(1, values.length - 1)) * (plot.right - plot.left)
  const last = values.length - 1
  let path = ''
  const alone: Html[] = []
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue
    const isJoined = values[index - 1] !== undefined
    const place = `${at(x(index))} ${at(y(value))}`
    if (index < last || last === 0) path += `${isJoined ? 'L' : 'M'}${place}`
    if (index === last || (!isJoined && values[index + 1] === undefined))
      alone.push(html`<circle class="${look}" cx="${at(x(index))}" cy="${at(y(value))}" r="2.5"/>`)
  }
  const [before, running] = [values[last - 1], values[last]]
  return html`<path class="line ${look}" d="${path === '' ? 'M0 0' : path}"/>${
    before !== undefined &&
    running !== undefined &&
    html`<path class="line running ${look}" d="M${at(x(last - 1))} ${at(y(before))}L${at(x(last))} ${at(y(running))}"/>`
  }${alone}`
}

/** At the end of each line; pushed apart where lines end close to each other. */
function labels(
  series: readonly Series[],
  y: (value: number) => number,
): readonly { text: string; look: string; atY: number }[] {
  const wanted = series
    .map(({ label, values }, index) => {
      const last = values.findLast((value) => value !== undefined)
      return { text: label, look: looks[index] ?? 'third', value: last }
    })
    .flatMap(({ text, look, value }) => (value === undefined ? [] : [{ text, look, atY: y(value) + 4 }]))
    .toSorted((a, b) => a.atY - b.atY)
  for (const [index, label] of wanted.entries()) {
    const above = wanted[index - 1]
    if (above) label.atY = Math.max(label.atY, above.atY + labelGap)
  }
  const below = Math.max(0, (wanted.at(-1)?.atY ?? 0) - plot.bottom)
  return wanted.map((label) => ({ ...label, atY: label.atY - below }))
}

function describe({ title, series, write }: Pick<Chart, 'title' | 'series' | 'write'>): string {
  const newest = series.map(({ label, values }) => {
    const last = values.findLast((value) => value !== undefined)
    return `${label} ${last === undefined ? 'unknown' : write(last)}`
  })
  return `${title} over time. Newest: ${newest.join(', ')}. The table has every figure.`
}

function at(place: number): number {
  return Math.round(place * 10) / 10
}

const goodSteps = [2, 4, 6, 10, 20]

/** For counts and amounts: a round number whose half is round too. */
export function roundCeiling(value: number): number {
  if (value <= 2) return 2
  const unit = 10 ** Math.floor(Math.log10(value))
  return unit * (goodSteps.find((step) => step * unit >= value) ?? 20)
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const goodDurations = [
  ...[2, 4, 10, 20, 40, 100, 200, 400],
  ...[1, 2, 4, 10, 20, 40].map((n) => n * second),
  ...[1, 2, 4, 10, 20, 40].map((n) => n * minute),
  ...[1, 2, 4, 8, 12, 24, 48, 96, 192].map((n) => n * hour),
]

export function durationCeiling(valueMs: number): number {
  return goodDurations.find((ms) => ms >= valueMs) ?? roundCeiling(valueMs)
}

/** Of a rate that may be far below one. */
export function rateCeiling(value: number): number {
  if (value >= 2) return roundCeiling(value)
  return [0.02, 0.1, 0.2, 1].find((end) => end >= value) ?? 2
}
