// Templates with {names}, filled with text or escaped HTML.
import { remember } from '../../../platform/runtime/remember.ts'
import type { Content } from '../html.ts'

/** Templates are texts of the locale files, so their number is bounded. */
const pieces = remember((template: string) => template.split(/\{(\w+)\}/), {
  keyOf: (template) => template,
  most: 2_000,
})

/** The template as page content; values are escaped like any other content. */
export function fill(template: string, values: Readonly<Record<string, Content>>): Content[] {
  return pieces(template).map((part, index) => (index % 2 === 0 ? part : gapOf(values, part, template)))
}

export function fillText(template: string, values: Readonly<Record<string, string>>): string {
  return pieces(template)
    .map((part, index) => (index % 2 === 0 ? part : gapOf(values, part, template)))
    .join('')
}

function gapOf<T>(values: Readonly<Record<string, T>>, name: string, template: string): T {
  if (!Object.hasOwn(values, name)) throw new Error(`"${template}" is filled without ${name}`)
  return values[name] as T
}
