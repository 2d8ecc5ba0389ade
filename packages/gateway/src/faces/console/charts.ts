// Line charts drawn by the server: thin lines over an axis that begins at zero, what a line stands for above them, and
// the figures themselves in a table that folds out. The picture is as wide as the page and its words are HTML, so that
// they stay readable on a phone. Each point is a column that shows its figures on hover and focus, without a script.
// Where nothing is known the line has a gap; the last point, which is still running, is dashed.
import { type Content, type Html, html } from '../../http/html.ts'
import { table } from './tables.ts'

export interface Line<Point> {
  readonly label: string
  readonly look: 'first' | 'second' | 'before'
  readonly value: (point: Point) => number | undefined
  readonly cell: (point: Point) => Content
  /** Said beside the label: the sum, or the share of all. */
  readonly whole: Content
}

export interface Chart<Point> {
  /** Of the fold with the table; unique on the page. */
  readonly id: string
  readonly title: string
  readonly points: readonly Point[]
  readonly lines: readonly Line<Point>[]
  readonly timeOf: (point: Point) => string
  /** The greatest value that the axis can show; undefined: a round one that holds all values. */
  readonly top?: number
  readonly write: (value: number) => string
}

/** In units of the picture, which is stretched to the width of the page. */
const size = { column: 10, height: 100 } as const

export function chart<Point>({ id, title, points, lines, timeOf, top: wanted, write }: Chart<Point>): Html {
  const known = lines.flatMap(({ value }) => points.map(value).filter((each) => each !== undefined))
  const top = wanted ?? roundCeiling(Math.max(0, ...known))
  const y = (value: number) => at(size.height - (value / top) * size.height)
  const [first, middle] = [points[0], points[Math.floor(points.length / 2)]]
  return html`<figure class="chart"><figcaption><strong>${title}</strong>
${lines.map(
  ({ label, look, whole }) => html`<span><i class="${look}"></i>${label} <b>${whole}</b></span>
`,
)}</figcaption>
<div class="plot"><div class="scale" aria-hidden="true">${[top, top / 2, 0].map((value) => html`<span>${write(value)}</span>`)}</div>
<div class="lines"><svg viewBox="0 0 ${points.length * size.column} ${size.height}" preserveAspectRatio="none" aria-hidden="true">
${lines.toReversed().map(({ value, look }) => drawn(points.map(value), { y, look }))}</svg>
${known.length === 0 && html`<p class="quiet small">Nothing in this time</p>`}
<ol>${points.map((point, index) => column(`${timeOf(point)}${index === points.length - 1 ? ', so far' : ''}`, { point, lines, isLate: index >= points.length / 2 }))}</ol></div>
<div class="times" aria-hidden="true"><span>${first && timeOf(first)}</span><span>${middle && timeOf(middle)}</span><span>now</span></div></div>
<details class="behind" id="${id}"><summary>Table</summary>${table(
    `${title}, the newest first`,
    ['From (UTC)', ...lines.map(({ label }) => ({ head: label, isNumber: true }))],
    points
      .toReversed()
      .map((point, index) => [
        html`<span class="nowrap">${timeOf(point)}${index === 0 && ', so far'}</span>`,
        ...lines.map(({ cell }) => cell(point)),
      ]),
  )}</details></figure>`
}

function column<Point>(
  time: string,
  { point, lines, isLate }: { point: Point; lines: readonly Line<Point>[]; isLate: boolean },
): Html {
  return html`<li tabindex="0"${isLate && html` class="late"`}><span class="tip"><strong>${time}</strong>${lines.map(
    ({ label, look, cell }) => html`<span><i class="${look}"></i>${label} <b>${cell(point)}</b></span>`,
  )}</span></li>`
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
    // A value alone is a line of no length, which round ends make a dot.
    path += `${isJoined ? 'L' : 'M'}${place(index)}${!isJoined && values[index + 1] === undefined ? 'h0' : ''}`
  }
  const running = values[last] !== undefined && last > 0
  const from = values[last - 1] === undefined ? last : last - 1
  return html`<path class="${look}" d="${path}"/>${running && html`<path class="running ${look}" d="M${place(from)}L${place(last)}"/>`}`
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
