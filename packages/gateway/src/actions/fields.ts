// The kinds of fields of actions, in JSON schema only, so that validation and /openapi.json are identical. `expected`
// is for error messages and is not published.
import { Failure, isCalendarDay, Type } from '@tillgate/protocol'
import type { TSchema } from 'typebox'
import type { Role } from '../core/authority/rules/roles.ts'
import { hiddenCharacters } from '../platform/runtime/visible-text.ts'

const noControlCharacters = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

/** Excludes invisible characters. */
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

export function day(description: string) {
  const schema = Type.String({
    format: 'date',
    pattern: '^[12][0-9]{3}-[0-9]{2}-[0-9]{2}$',
    description,
    expected: 'a calendar day, such as 2026-11-16',
  })
  return displayed(schema, { kind: 'day', placeholder: '2026-11-16' })
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
  const schema = Type.Integer({
    minimum: 0,
    maximum: 9_999_999_999_999,
    description: `${description} Milliseconds since 1970-01-01 UTC.`,
    expected: 'milliseconds since 1970-01-01 UTC',
  })
  return displayed(schema, {
    fromOption: momentOf,
    hint: `${description} A date, a time, or how long ago (90m, 12h, 7d).`,
  })
}

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Undefined if the text is not a duration such as 90m, 12h or 7d. */
export function spanMs(written: string): number | undefined {
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(written) ?? []
  // Safe: the pattern contains the units.
  return number === undefined ? undefined : Number(number) * unitsMs[unit as keyof typeof unitsMs]
}

/** A date or a time; NaN otherwise. `Date.parse` reads February 31 as March 3. */
export function parseMoment(written: string): number {
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(written) ?? []
  return day === undefined || isCalendarDay(day) ? Date.parse(written) : Number.NaN
}

function momentOf(written: string): string {
  const span = spanMs(written)
  const atMs = span === undefined ? parseMoment(written) : Date.now() - span
  if (!Number.isNaN(atMs)) return String(atMs)
  throw new Failure('invalid_field', {
    message: `${written} must be like 2026-11-15, 2026-11-15T08:00Z or 12h.`,
  })
}

export function yesNo(description: string) {
  return Type.Boolean({ description, expected: '`true` or `false`' })
}

/** Exact decimal text, because some programs lose digits of JSON numbers. */
export function amount(description: string) {
  const schema = Type.String({
    pattern: '^-?[0-9]{1,24}(\\.[0-9]{1,4})?$',
    description,
    expected: 'a decimal number as text, such as `12.50`',
  })
  return displayed(schema, { fromText: withDecimalPoint })
}

/** Most of Europe types 12,50. A comma before three digits may separate thousands, so it stays and is rejected. */
function withDecimalPoint(written: string): string {
  return written.replace(/^(-?\d+),(\d{1,2})$/, '$1.$2')
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

/** For objects that another schema describes. */
export function anyObject(description: string) {
  return Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    description,
    expected: 'an object',
  })
}

export const optional = Type.Optional

type Choices = readonly (readonly [value: string, label: string])[]

/** Existing entries that a form suggests while typing. */
export type Suggested =
  | 'merchants'
  | 'banks'
  | 'rails'
  | 'accounts'
  | 'mappings'
  | 'operators'
  | 'breaks'
  | 'parked'
  | 'currencies'

/** How people see a field; programs do not see these properties. */
export interface FieldDisplay {
  /** The form label; by default derived from the name. */
  readonly label?: string
  /** The command-line option; by default derived from the name. */
  readonly option?: string
  readonly placeholder?: string
  /** Shortens a long value where it is described, such as a key to its fingerprint. */
  readonly shown?: (text: string) => string
  /** Replaces the description on the command line. */
  readonly hint?: string
  readonly initial?: string
  /** The choices on a form, with their labels. */
  readonly choices?: Choices | ((role: Role) => Choices)
  readonly suggests?: Suggested
  /** Hidden from the admin API and forms. */
  readonly only?: 'command' | 'request'
  /** Converts what a person typed to the form that the schema requires. */
  readonly fromText?: (text: string) => string
  /** Converts what a person typed on the command line, instead of `fromText`. */
  readonly fromOption?: (text: string) => string
  /**
   * The control on a form if not a text field. `long`: several lines, a file on the command line. `lines`: a list with
   * one item per line, because items may contain commas; the command line separates them by commas. `picture`: the
   * bytes in base64. `day`: a date.
   */
  readonly kind?: 'long' | 'lines' | 'picture' | 'document' | 'day'
}

/** Stored in a non-enumerable property, as schema builders do, so that validation and descriptions ignore it. */
export function displayed<Schema extends TSchema>(schema: Schema, display: FieldDisplay): Schema {
  const value = { ...displayOf(schema), ...display }
  const marks = { '~display': { value, enumerable: false, configurable: true, writable: true } }
  // Safe: it is the schema with one more property.
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), ...marks }) as Schema
}

/** The same field with another description. */
export function described<Schema extends TSchema>(description: string, schema: Schema): Schema {
  const marks = { description: { value: description, enumerable: true, configurable: true, writable: true } }
  // Safe: only the text differs.
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), ...marks }) as Schema
}

export function displayOf(schema: TSchema): FieldDisplay {
  return (schema as { '~display'?: FieldDisplay })['~display'] ?? {}
}

export function labelOf(field: string, schema: TSchema | undefined): string {
  const words = field
    .replace(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`)
    .replace(/\b(?:id|ip|url)s?\b/g, (word) =>
      word.replace(/^(?:id|ip|url)/, (letters) => letters.toUpperCase()),
    )
  return (schema && displayOf(schema).label) ?? words.charAt(0).toUpperCase() + words.slice(1)
}
