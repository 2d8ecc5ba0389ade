// The same JSON as other programs serialize it. If a signature matches one of these and not the encrypted text, the
// body was serialized a second time.

export interface BodyVariant {
  readonly text: string
  readonly kind: string | undefined
  readonly problem: string
}

const reserialised = 'body_reserialised'

export function bodyVariants(plain: string, meant: string | undefined): BodyVariant[] {
  const variants: BodyVariant[] = [{ text: plain, kind: undefined, problem: '' }]
  const add = (kind: string, problem: string, text: string) => {
    if (variants.every((known) => known.text !== text)) variants.push({ kind, problem, text })
  }
  if (meant !== undefined)
    add(reserialised, 'The body that was signed is the one you gave, not the one that was encrypted.', meant)
  add('trailing_newline', 'The body was signed with a line break at its end.', `${plain}\n`)
  add('trailing_newline', 'The body was signed with a line break at its end.', `${plain}\r\n`)
  add('trailing_newline', 'The body was signed without the line break at its end.', plain.replace(/\s+$/, ''))
  add(
    'byte_order_mark',
    'The body was signed with a byte order mark, and encrypted without.',
    `\uFEFF${plain}`,
  )
  add('byte_order_mark', 'The body was signed without its byte order mark.', plain.replace(/^\uFEFF/, ''))
  add('url_encoded_value', 'The body was URL-encoded before it was signed.', encodeURIComponent(plain))
  add(
    'url_encoded_value',
    'The body was form-encoded before it was signed.',
    new URLSearchParams({ x: plain }).toString().slice(2),
  )
  const value = parse(plain)
  if (value === undefined) return variants
  const problem = (how: string) => `The body was serialized twice: the text that was signed has ${how}.`
  for (const [order, ordered] of [
    ['', value],
    [' and keys in another order', sorted(value)],
  ] as const) {
    for (const [how, write] of writers) add(reserialised, problem(how + order), write(ordered))
  }
  return variants
}

const compact = (value: unknown) => JSON.stringify(value)
const asciiOnly = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const slashes = (text: string) => text.replaceAll('/', '\\/')
/** The default of Go's encoding/json. */
const htmlSafe = (text: string) =>
  text.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)

const writers: readonly (readonly [string, (value: unknown) => string])[] = [
  ['no spaces', compact],
  ['a space after commas and colons', spaced],
  ['a space after commas and colons, and escapes for what is not ASCII', (value) => asciiOnly(spaced(value))],
  ['escapes for what is not ASCII', (value) => asciiOnly(compact(value))],
  ['escaped slashes', (value) => slashes(compact(value))],
  ['escaped slashes and escapes for what is not ASCII', (value) => asciiOnly(slashes(compact(value)))],
  ['escapes for <, > and &', (value) => htmlSafe(compact(value))],
  ['an indent of 2', (value) => JSON.stringify(value, null, 2)],
  ['an indent of 4', (value) => JSON.stringify(value, null, 4)],
]

/** The format of Python's json.dumps. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`)
  return `{${members.join(', ')}}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}
