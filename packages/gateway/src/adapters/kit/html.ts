// HTML by tagged template: every value is escaped unless it is HTML already.

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | bigint | false | null | undefined | readonly Content[]

export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  let text = parts[0] ?? ''
  for (let index = 0; index < contents.length; index++)
    text += render(contents[index]) + (parts[index + 1] ?? '')
  return new Html(text)
}

function render(content: Content): string {
  if (content === false || content === null || content === undefined) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(render).join('')
  return escapeHtml(String(content))
}

/**
 * Writes the few non-Latin characters of a Latin page as references. One such character doubles the string's width, and
 * encoding it takes six times as long.
 */
export function inReferences(text: string): Html {
  const latin = escapeHtml(text).replace(/[^\0-\xff]/gu, (character) => `&#${character.codePointAt(0)};`)
  // A string made from a wide one stays wide until it is decoded again.
  return new Html(Buffer.from(latin, 'latin1').toString('latin1'))
}

const replacements: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const special = /[&<>"']/

/** Most texts need no escaping, and checking costs a tenth of replacing. */
function escapeHtml(text: string): string {
  if (!special.test(text)) return text
  return text.replace(/[&<>"']/g, (character) => replacements[character] ?? character)
}
