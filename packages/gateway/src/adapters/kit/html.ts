// HTML by tagged template: everything put into it is escaped unless it is HTML already, so a page cannot forget.

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
 * For the few such characters on a page of Latin letters: a single one makes the whole text twice as wide, and then it
 * takes six times as long to turn it into bytes.
 */
export function inReferences(text: string): Html {
  const latin = escapeHtml(text).replace(/[^\0-\xff]/gu, (character) => `&#${character.codePointAt(0)};`)
  // What was made from a wide text stays wide, until it is read anew.
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

/** Most texts have nothing to escape, and looking costs a tenth of replacing. */
function escapeHtml(text: string): string {
  if (!special.test(text)) return text
  return text.replace(/[&<>"']/g, (character) => replacements[character] ?? character)
}
