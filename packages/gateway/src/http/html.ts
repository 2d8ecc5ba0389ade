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
