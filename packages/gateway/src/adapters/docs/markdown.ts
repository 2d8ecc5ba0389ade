// Converts Markdown to HTML: raw HTML is escaped, headings get anchors, tables and code scroll by keyboard, links between
// papers become links between pages, and marked code blocks become tabs.
import { Marked, type Tokens } from 'marked'
import { type Html, html, Html as RawHtml } from '../kit/html.ts'
import { usual } from './addresses.ts'
import { highlight } from './highlight.ts'
import { makeAnchors, plainText } from './sections.ts'

export type Target =
  | { readonly kind: 'page'; readonly href: string }
  | { readonly kind: 'image'; readonly href: string; readonly size: ImageSize | undefined }
  /** Only in the repository. */
  | { readonly kind: 'unserved' }

export interface ImageSize {
  readonly width: number
  readonly height: number
}

export interface Rendering {
  /** The target of a link to a file. */
  readonly locate: (href: string) => Target
  /** Of the gateway that serves the page. */
  readonly origin: string
}

/** Code blocks between two comments, each after its title in bold. */
const tabsPattern = /^<!-- tabs -->\n([\s\S]*?)<!-- end of tabs -->\n?/
const tabPattern = /\*\*(.+?)\*\*\n\n(?:<!--.*?-->\n)?```(\w*)\n([\s\S]*?)\n```/g

interface TabsToken {
  readonly type: 'tabs'
  readonly raw: string
  readonly tabs: readonly { readonly title: string; readonly language: string; readonly code: string }[]
}

function codeBlock(code: string, language: string): Html {
  return html`<div class="code"><pre tabindex="0"><code data-language="${language}">${highlight(code, language)}</code></pre></div>
`
}

/** Radio buttons, so that the tabs work by keyboard and without a script. */
function tabGroup(group: string, { tabs }: TabsToken): Html {
  const idOf = (title: string) => `${group}-${title.toLowerCase()}`
  return html`<div class="tabs" role="group" aria-label="Language">
${tabs.map(
  ({ title }, index) =>
    html`<input type="radio" name="${group}" id="${idOf(title)}" value="${title}"${index === 0 && html` checked`}><label for="${idOf(title)}">${title}</label>\n`,
)}${tabs.map(({ language, code }) => codeBlock(code, language))}</div>
`
}

export function renderMarkdown(markdown: string, rendering: Rendering): Html {
  const { locate } = rendering
  const anchorOf = makeAnchors()
  let groups = 0
  const marked = new Marked({
    gfm: true,
    extensions: [
      {
        name: 'tabs',
        level: 'block',
        start: (text) => text.indexOf('<!-- tabs -->'),
        tokenizer(text): TabsToken | undefined {
          const [raw, inner = ''] = tabsPattern.exec(text) ?? []
          if (raw === undefined) return undefined
          const tabs = [...inner.matchAll(tabPattern)].map(([, title = '', language = '', code = '']) => ({
            title,
            language,
            code,
          }))
          return { type: 'tabs', raw, tabs }
        },
        // Safe: the tokenizer above made it.
        renderer: (token) => tabGroup(`tabs-${++groups}`, token as unknown as TabsToken).text,
      },
    ],
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => html`${text.replace(/<!--[\s\S]*?-->/g, '').trim()}`.text,
      heading({ depth, tokens, text }) {
        const anchor = anchorOf(plainText(text))
        const words = this.parser.parseInline(tokens)
        // Links cannot be nested.
        const inner = words.includes('<a ') ? words : `<a href="#${anchor}">${words}</a>`
        return html`<${new RawHtml(`h${depth}`)} id="${anchor}">${new RawHtml(inner)}</${new RawHtml(`h${depth}`)}>
`.text
      },
      code: ({ text, lang = '' }) => codeBlock(text, lang).text,
      table(token) {
        const cells = (row: readonly Tokens.TableCell[]) =>
          row.map((cell) => this.tablecell(cell.text === '' ? { ...cell, header: false } : cell)).join('')
        const head = this.tablerow({ text: cells(token.header) })
        const body = token.rows.map((row) => this.tablerow({ text: cells(row) })).join('')
        const isBare = token.header.every(({ text }) => text === '')
        return html`<div class="table" role="group" aria-label="Table" tabindex="0"><table>
${!isBare && html`<thead>${new RawHtml(head)}</thead>`}<tbody>${new RawHtml(body)}</tbody></table></div>
`.text
      },
      // Checklists are read-only here.
      checkbox: ({ checked }) => `<span aria-hidden="true">${checked ? '☑' : '☐'}</span> `,
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens)
        const found = hrefOf(href, rendering)
        return found === undefined ? words : html`<a href="${found}">${new RawHtml(words)}</a>`.text
      },
      image({ href, text }) {
        const target = locate(href)
        if (target.kind !== 'image') return html`${text}`.text
        const { size } = target
        const image = html`<img src="${target.href}" alt="${text}" loading="lazy"${
          size !== undefined && html` width="${size.width}" height="${size.height}"`
        }>`
        // A drawing keeps its size on a phone, because its text would be unreadable otherwise.
        if (!target.href.endsWith('.svg')) return image.text
        return html`<span class="drawing" role="group" aria-label="Drawing" tabindex="0">${image}</span>`.text
      },
    },
  })
  return new RawHtml(marked.parse(markdown, { async: false }))
}

function hrefOf(href: string, { locate, origin }: Rendering): string | undefined {
  const isAt = (address: string) => href === address || href.startsWith(`${address}/`)
  if (isAt(origin)) return href.slice(origin.length) || '/'
  // Live has no sandbox to link to.
  if (isAt(usual.publicUrl)) return undefined
  if (/^(https?:\/\/|mailto:|#)/.test(href)) return href
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined
  const target = locate(href)
  return target.kind === 'unserved' ? undefined : target.href
}
