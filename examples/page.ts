// What the pages of the examples have in common. Everything that is put into a template is escaped.
import type { ServerResponse } from 'node:http'

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const

export const sendPage = (response: ServerResponse, httpStatus: number, text: string) =>
  void response.writeHead(httpStatus, pageHeaders).end(text)
export const redirect = (response: ServerResponse, location: string) =>
  void response.writeHead(303, { location }).end()

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | false | undefined | readonly Content[]

export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(parts.map((part, index) => part + render(contents[index])).join(''))
}

function render(content: Content): string {
  if (content === undefined || content === false) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(render).join('')
  return String(content).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export interface PageParts {
  readonly title: string
  readonly name: string
  readonly about: string
  /** Drawn beside the name, in a view box of 24 by 24. */
  readonly mark: Html
  readonly content: Html
  readonly isWaiting?: boolean
}

export function page({ title, name, about, mark, content, isWaiting = false }: PageParts): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${isWaiting && html`<meta http-equiv="refresh" content="1">`}
<title>${title}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><div><a class="name" href="/"><svg class="mark" viewBox="0 0 24 24" aria-hidden="true">${mark}</svg>${name}</a> <span class="quiet">${about}</span></div></header>
<main>
${content}
</main>
</body>
</html>
`.text
}

export const baseStyle = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f8f8, #0e1312);
  --surface: light-dark(#ffffff, #161c1b);
  --sunken: light-dark(#eff2f2, #1e2625);
  --line: light-dark(#e1e6e6, #2a3432);
  --edge: light-dark(#87938f, #73827d);
  --text: light-dark(#14201d, #e8eeec);
  --quiet: light-dark(#56635f, #9eaca7);
  --accent: light-dark(#0b6b54, #5fd0ae);
  --on-accent: light-dark(#ffffff, #04140f);
  --good: light-dark(#12713b, #6fd598);
  --wait: light-dark(#855300, #e3b75b);
  --bad: light-dark(#b3261e, #f59a92);
  --shadow: 0 1px 2px light-dark(rgb(16 32 28 / 6%), transparent), 0 1px 3px light-dark(rgb(16 32 28 / 4%), transparent);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem / 1.5 Inter, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif; }
header { border-bottom: 1px solid var(--line); background: var(--surface); }
header > div, main { max-width: 720px; margin: 0 auto; padding: 16px; }
header > div { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; justify-content: space-between; font-size: 0.8125rem; }
.name { display: inline-flex; gap: 10px; align-items: center; color: var(--text); font-size: 1.125rem; font-weight: 600; text-decoration: none; }
.mark { width: 32px; height: 32px; padding: 5px; border-radius: 8px; background: var(--accent); fill: none; stroke: var(--on-accent); stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
main { padding-block: 32px 64px; }
h1 { margin: 0 0 16px; font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.02em; text-wrap: balance; }
h2 { margin: 0; font-size: 1rem; }
p { margin: 0 0 16px; }
a { color: var(--accent); text-underline-offset: 3px; }
.quiet { color: var(--quiet); }
.card { padding: 24px; border: 1px solid var(--line); border-radius: 16px; background: var(--surface); box-shadow: var(--shadow); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 0.8125rem / 1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
button { min-height: 44px; padding: 0 16px; border: 1px solid var(--edge); border-radius: 8px; background: var(--surface); color: var(--text); font: inherit; font-size: 0.9375rem; font-weight: 600; cursor: pointer; }
button:hover { border-color: var(--accent); color: var(--accent); }
.primary { width: 100%; min-height: 48px; border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-size: 1rem; }
.primary:hover { color: var(--on-accent); filter: brightness(0.92); }
.badge { display: inline-flex; gap: 6px; align-items: center; margin: 0 0 12px; padding: 2px 8px; border-radius: 6px; background: color-mix(in srgb, currentColor 12%, var(--surface)); font-size: 0.8125rem; font-weight: 600; }
.badge::before { width: 8px; height: 8px; border-radius: 50%; background: currentColor; content: ""; }
.badge.good { color: var(--good); }
.badge.wait { color: var(--wait); }
.badge.wait::before { border-radius: 0; }
.badge.bad { color: var(--bad); }
.badge.bad::before { width: 10px; height: 2px; border-radius: 0; }
@media (max-width: 479px) { .card { padding: 16px; } }
`
