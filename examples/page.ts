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
  readonly content: Html
  readonly isWaiting?: boolean
}

export function page({ title, name, about, content, isWaiting = false }: PageParts): string {
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
<header><a class="name" href="/">${name}</a> <span class="quiet">${about}</span></header>
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
  --ground: light-dark(#fbfbf9, #131514);
  --surface: light-dark(#ffffff, #1b1e1d);
  --line: light-dark(#dcdfdc, #323735);
  --text: light-dark(#1c211f, #e9ecea);
  --quiet: light-dark(#5b6460, #a3aca8);
  --accent: light-dark(#1f6f5c, #6fc7af);
  --on-accent: light-dark(#ffffff, #0d1f1a);
  --good: light-dark(#1f6f3c, #7fd39b);
  --wait: light-dark(#85590b, #e0b457);
  --bad: light-dark(#a82a2a, #f09a93);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem / 1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header, main { max-width: 640px; margin: 0 auto; padding: 16px; }
header { display: flex; flex-wrap: wrap; gap: 0 16px; align-items: baseline; border-bottom: 1px solid var(--line); font-size: 0.8125rem; }
.name { color: var(--text); font-size: 1rem; font-weight: 600; text-decoration: none; }
h1 { margin: 16px 0; font-size: 1.375rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin: 0; font-size: 1rem; }
p { margin: 0 0 16px; }
a { color: var(--accent); }
.quiet { color: var(--quiet); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 0.8125rem / 1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
button { min-height: 40px; padding: 0 16px; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); color: var(--text); font: inherit; cursor: pointer; }
button:hover { border-color: var(--accent); }
.primary { width: 100%; min-height: 48px; border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; }
.badge { display: inline-flex; align-items: center; gap: 8px; margin: 16px 0 0; padding: 0 8px; border: 1px solid var(--line); border-radius: 4px; background: var(--surface); font-size: 0.8125rem; }
.badge::before { width: 8px; height: 8px; border-radius: 50%; background: currentColor; content: ""; }
.badge.good { color: var(--good); }
.badge.wait { color: var(--wait); }
.badge.wait::before { border-radius: 0; }
.badge.bad { color: var(--bad); }
.badge.bad::before { width: 10px; height: 2px; border-radius: 0; }
`
