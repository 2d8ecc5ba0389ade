// The kinds of field that the admin API is made of. In words of JSON schema alone, so that what is checked and what
// /openapi.json says are the same to the letter; `expected` is for errors and stays inside.
import { Type } from '@tillgate/protocol'
import type { TSchema } from 'typebox'
import { hiddenCharacters } from '../../platform/visible-text.ts'

const noControlCharacters = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

/** Nor marks that nobody sees. */
export const visibleCharacters = `^[^${hiddenCharacters}]*$`

export function text(
  description: string,
  { min = 1, max, pattern = noControlCharacters }: { min?: number; max: number; pattern?: string },
) {
  return Type.String({
    minLength: min,
    maxLength: max,
    pattern,
    description,
    expected: `text of ${min} to ${max} characters, no control characters`,
  })
}

/** Several lines, such as a key. */
export function longText(description: string, { max }: { max: number }) {
  return Type.String({
    minLength: 1,
    maxLength: max,
    description,
    expected: `text of 1 to ${max} characters`,
  })
}

export function matching(
  description: string,
  { regexp, expected }: { readonly regexp: RegExp; readonly expected: string },
) {
  return Type.String({ pattern: regexp.source, description, expected })
}

export function oneOf<const Values extends readonly string[]>(description: string, values: Values) {
  const expected = `one of ${values.map((value) => `\`${value}\``).join(', ')}`
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], description, expected })
}

export function integer(description: string, { min, max }: { min: number; max: number }) {
  return Type.Integer({
    minimum: min,
    maximum: max,
    description,
    expected: `a whole number from ${min} to ${max}`,
  })
}

export function count(description: string) {
  return integer(description, { min: 0, max: Number.MAX_SAFE_INTEGER })
}

export function timeMs(description: string) {
  return Type.Integer({
    minimum: 0,
    maximum: 9_999_999_999_999,
    description: `${description} Milliseconds since 1970-01-01 UTC.`,
    expected: 'milliseconds since 1970-01-01 UTC',
  })
}

export function yesNo(description: string) {
  return Type.Boolean({ description, expected: '`true` or `false`' })
}

/** Decimal text, exact; a number would lose digits in some programs. */
export function amount(description: string) {
  return Type.String({
    pattern: '^-?[0-9]{1,24}(\\.[0-9]{1,4})?$',
    description,
    expected: 'a decimal number as text, such as `12.50`',
  })
}

export function list<Item extends TSchema>(description: string, item: Item, { max }: { max?: number } = {}) {
  return Type.Array(item, {
    ...(max !== undefined && { maxItems: max }),
    description,
    expected: max === undefined ? 'a list' : `a list of at most ${max}`,
  })
}

export function object<Fields extends Record<string, TSchema>>(description: string, fields: Fields) {
  return Type.Object(fields, { additionalProperties: false, description, expected: 'an object' })
}

export const optional = Type.Optional

type Present<T> = { [Name in keyof T]: Exclude<T[Name], undefined> }

/** Without what is undefined: JSON has no such thing. */
export function present<T extends object>(value: T): Present<T> {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  // Safe where it is used: a field that may be missing is an optional one of the answer's schema.
  return Object.fromEntries(entries) as Present<T>
}
