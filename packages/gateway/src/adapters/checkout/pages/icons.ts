// A shape for each kind of state, so that colors are not needed to distinguish them. Our own drawings, 24 by 24.
import { type Html, html } from '../../kit/html.ts'

const paths = {
  done: html`<circle cx="12" cy="12" r="10"/><path d="m7.5 12.5 3 3 6-6.5"/>`,
  failed: html`<path d="M8 2h8l6 6v8l-6 6H8l-6-6V8z"/><path d="m9 9 6 6m0-6-6 6"/>`,
  over: html`<circle cx="12" cy="12" r="10"/><path d="M12 6.5V12l3.5 2"/>`,
  stopped: html`<rect x="2.5" y="2.5" width="19" height="19" rx="4"/><path d="M8 12h8"/>`,
  working: html`<path class="turn" d="M12 2a10 10 0 1 1-10 10"/>`,
  clock: html`<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3 2"/>`,
  notice: html`<path d="M12 3 1.8 20.5h20.4z"/><path d="M12 10v5m0 2.6v.1"/>`,
  wallet: html`<path d="M19 7V5a1 1 0 0 0-1-1H5a2 2 0 0 0 0 4h15a1 1 0 0 1 1 1v3"/><path d="M3 6v12a2 2 0 0 0 2 2h15a1 1 0 0 0 1-1v-3M18 12a2 2 0 0 0 0 4h4v-4z"/>`,
  bank: html`<path d="M3 21h18M4 10h16M12 3l8 5H4zM6 10v8m4-8v8m4-8v8m4-8v8"/>`,
  lock: html`<rect x="4" y="11" width="16" height="10" rx="2"/><path d="M8 11V7a4 4 0 0 1 8 0v4"/>`,
  download: html`<path d="M12 3v12m-5-5 5 5 5-5M4 20h16"/>`,
  globe: html`<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c5 5.5 5 12.5 0 18-5-5.5-5-12.5 0-18z"/>`,
  link: html`<path d="M10 14a4 4 0 0 1 0-5.7l3-3a4 4 0 0 1 5.7 5.7l-1.5 1.5M14 10a4 4 0 0 1 0 5.7l-3 3A4 4 0 0 1 5.3 13l1.5-1.5"/>`,
} as const

export type IconName = keyof typeof paths

export function icon(name: IconName): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths[name]}</svg>`
}
