// Times and amounts in the console: relative times with the exact ones on hover.
import { toDecimalText } from '@tillgate/protocol'
import { type Html, html } from '../kit/html.ts'

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Such as "3 min", rounded down, in the largest unit that fits. */
export function duration(ms: number): string {
  for (const [unit, unitMs] of units) if (ms >= unitMs) return `${Math.floor(ms / unitMs)} ${unit}`
  return `${Math.max(0, Math.floor(ms))} ms`
}

export function until(timeMs: number, nowMs: number): string {
  return duration(Math.max(1_000, timeMs - nowMs))
}

export function exact(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

export function relative(timeMs: number, nowMs: number): string {
  const passedMs = nowMs - timeMs
  if (Math.abs(passedMs) < 1_000) return 'now'
  return passedMs > 0 ? `${duration(passedMs)} ago` : `in ${duration(-passedMs)}`
}

/** The exact time appears on hover. */
export function ago(timeMs: number | undefined, nowMs: number): Html {
  if (timeMs === undefined) return html`<span class="quiet">—</span>`
  return html`<time datetime="${new Date(timeMs).toISOString()}" title="${exact(timeMs)}">${relative(timeMs, nowMs)}</time>`
}

/** Relative and exact, where there is room. */
export function moment(timeMs: number | undefined, nowMs: number): Html {
  if (timeMs === undefined) return html`<span class="quiet">—</span>`
  return html`<time datetime="${new Date(timeMs).toISOString()}" title="${exact(timeMs)}">${exact(timeMs)}</time> <span class="quiet">(${relative(timeMs, nowMs)})</span>`
}

/** A booked line's reference ends with a part of the line's ID, because banks repeat references. */
export function bankReference(stored: string): Html {
  const shown = /^(?!line )(.+) [0-9a-f]{12}$/.exec(stored)?.[1] ?? stored
  return html`<span class="wrap"${shown !== stored && html` title="${stored}"`}>${shown}</span>`
}

export function amount(minor: bigint, currency: string): Html {
  return html`<span class="money">${grouped(toDecimalText(minor, currency))}&nbsp;${currency}</span>`
}

/** For tables that name the currency in a header. */
export function bareAmount(minor: bigint, currency: string): Html {
  return html`<span class="money">${grouped(toDecimalText(minor, currency))}</span>`
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Grouped by thousands, so that an extra zero is noticed. */
function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.')
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? parted : `${parted}.${fraction}`
}

export function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** For a limited count: "10,000 or more". */
export function countUpTo(number: number, atMost: number): string {
  return number >= atMost ? `${count(atMost)} or more` : count(number)
}

/** Such as "98.7%"; a share below 100% never rounds to it. */
export function percent(share: number | undefined): string {
  if (share === undefined) return '—'
  if (share === 0 || share === 1) return `${share * 100}%`
  return `${Math.min(99.9, Math.max(0.1, Math.round(share * 1_000) / 10))}%`
}

/** Such as "1.2M", for small spaces. */
export function compact(number: number): string {
  for (const [letter, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e4],
  ] as const)
    if (number >= size) return `${threeFigures(number / (letter === 'k' ? 1e3 : size))}${letter}`
  return number >= 1_000 ? count(Math.round(number)) : threeFigures(number)
}

function threeFigures(number: number): string {
  return String(number >= 100 ? Math.round(number) : Number(number.toPrecision(3)))
}
