// The kinds of fields in messages. Each has its check, the description of valid values (`expected`, used in errors and
// in the documentation) and its purpose (`description`).
import type { TSchema } from 'typebox'
import { inexactNumberText } from './json/json.ts'
import { maxNumberDigits, maxUrlLength } from './limits.ts'
import type { WireAmount } from './money.ts'
import { Type } from './type.ts'

/** Our additions to JSON schema, which validators ignore. */
export interface FieldNotes {
  readonly typeName: string
  readonly expected: string
  readonly description: string
  /** What to change about a rejected value, as a sentence; undefined if nothing is known beyond `expected`. */
  readonly adviceFor?: (value: unknown) => string | undefined
  /** The same for a number that a double does not hold exactly, as it was written. */
  readonly adviceForInexact?: (written: string) => string | undefined
  /** What to do about a field that is missing, by the unknown fields that were sent beside it. */
  readonly adviceBeside?: (unknown: readonly string[]) => string | undefined
}

// Cc are the control characters: C0, DEL and C1.
const controlCharacter = /\p{Cc}/u
const controlCharacterInLines = /(?![\n\r\t])\p{Cc}/u

/** Neither white space nor an invisible character. */
const visibleCharacter = /[^\s\p{Cf}]/u

/** Lengths count code points. Control characters are rejected; lone surrogates were rejected before. */
export function isText(
  value: unknown,
  { min, max, hasLines = false }: { min: number; max: number; hasLines?: boolean },
): value is string {
  if (typeof value !== 'string') return false
  if (value.length < min || (hasLines ? controlCharacterInLines : controlCharacter).test(value)) return false
  // A code point has one or two units, so only lengths between max and twice max need counting.
  if (value.length <= max) return true
  return value.length <= 2 * max && [...value].length <= max
}

export function text(
  description: string,
  {
    min = 1,
    max,
    isVisible = false,
    hasLines = false,
    adviceFor,
    adviceBeside,
  }: {
    min?: number
    max: number
    isVisible?: boolean
    hasLines?: boolean
    adviceFor?: FieldNotes['adviceFor']
    adviceBeside?: FieldNotes['adviceBeside']
  },
) {
  const length = min === max ? `${max}` : min === 0 ? `at most ${max}` : `${min} to ${max}`
  const notes = {
    typeName: 'string',
    expected: `text of ${length} characters, ${isVisible ? 'not blank, ' : ''}no control characters${hasLines ? ' except line breaks and tabs' : ''}`,
    description,
    adviceFor: (value: unknown) => adviceForText(value) ?? adviceFor?.(value),
    adviceBeside,
  }
  return Type.Refine(
    Type.String(notes),
    (value) => isText(value, { min, max, hasLines }) && (!isVisible || visibleCharacter.test(value)),
  )
}

function adviceForText(value: unknown): string | undefined {
  return typeof value === 'number' ? 'Send it as text, in double quotes.' : undefined
}

/** Checks only the length: the gateway decides whether it may use the address, with a separate code. */
export function url(description: string) {
  const notes = {
    typeName: 'string',
    expected: `an address of at most ${maxUrlLength} characters`,
    description,
  }
  return Type.Refine(Type.String(notes), (value) => isText(value, { min: 1, max: maxUrlLength }))
}

/** A web page's address for a browser, without other schemes such as javascript: and file:. */
export function webAddress(description: string) {
  const expected = `an http or https address of at most ${maxUrlLength} characters`
  return Type.Refine(Type.String({ typeName: 'string', expected, description }), (value) => {
    if (!isText(value, { min: 1, max: maxUrlLength })) return false
    const { protocol, username, password } = URL.parse(value) ?? {}
    return (protocol === 'https:' || protocol === 'http:') && username === '' && password === ''
  })
}

export function pattern(
  description: string,
  {
    regexp,
    expected,
    typeName = 'string',
    adviceFor,
  }: { regexp: RegExp; expected: string; typeName?: string; adviceFor?: FieldNotes['adviceFor'] },
) {
  return Type.Refine(Type.String({ typeName, expected, description, adviceFor }), (value) =>
    regexp.test(value),
  )
}

const base64Letters = /^[A-Za-z0-9+/]+={0,2}$/

/** The decoder checks that it is canonical. */
export function base64(description: string) {
  const notes = {
    typeName: 'string',
    expected: 'standard base64 with padding',
    description,
    adviceFor: adviceForBase64,
  }
  return Type.Refine(
    Type.String(notes),
    (value) => value.length % 4 === 0 && base64Letters.test(value) && !isHex(value),
  )
}

/** Hexadecimal text is also valid base64, but only one in 10^18 base64 texts of this length looks hexadecimal. */
function isHex(value: string): boolean {
  return value.length >= 40 && /^(?=.*[0-9])(?:[0-9a-f]+|[0-9A-F]+)$/.test(value)
}

function adviceForBase64(value: unknown): string | undefined {
  if (typeof value === 'object') return 'Encrypt the JSON, and send the encrypted bytes as base64 text.'
  if (typeof value !== 'string') return undefined
  if (/^\s*[{[]/.test(value))
    return 'This looks like JSON. Encrypt it, and send the encrypted bytes as base64 text.'
  if (/\s/.test(value) && base64Letters.test(value.replace(/\s/g, '')))
    return 'Send the base64 as one line: remove the line breaks and spaces.'
  if (isHex(value)) return 'This looks like hex. Encode the bytes as base64 instead.'
  if (/[-_]/.test(value))
    return 'This looks like base64url. Use + and / instead of - and _, and keep the padding.'
  return base64Letters.test(value) ? 'Its length is not a multiple of 4: keep the padding (=).' : undefined
}

export function choice<const Values extends readonly string[]>(description: string, values: Values) {
  const expected =
    values.length === 1 ? `\`${values[0]}\`` : `one of ${values.map((v) => `\`${v}\``).join(', ')}`
  return Type.Refine(
    Type.Unsafe<Values[number]>({
      type: 'string',
      enum: [...values],
      typeName: 'string',
      expected,
      description,
      adviceFor: (value: unknown) => {
        const meant = values.find((each) => each.toLowerCase() === String(value).toLowerCase())
        return meant && values.length > 1 ? `Did you mean ${meant}?` : undefined
      },
    }),
    (value) => values.includes(value),
  )
}

/** Checks only the type of the value; digits and range depend on the currency (money.ts). */
export function amount(
  description: string,
  { isPositive = false, isSigned = false }: { isPositive?: boolean; isSigned?: boolean } = {},
) {
  const unsigned = isPositive ? 'an amount greater than zero' : 'an amount, zero or more'
  const expected = isSigned ? 'an amount, which may be negative' : unsigned
  const notes = { typeName: 'number or string', expected, description }
  return Type.Refine(Type.Unsafe<WireAmount>({ type: ['number', 'string'], ...notes }), isWireAmount)
}

function isWireAmount(value: unknown): value is WireAmount {
  return typeof value === 'number' || typeof value === 'string'
}

const thirteenDigits = /^[1-9][0-9]{12}$/

export function time(description: string) {
  const expected = '13 digits: milliseconds since 1970-01-01 UTC'
  const notes = {
    typeName: 'number or string',
    expected,
    description,
    adviceFor: adviceForTime,
    adviceForInexact: adviceForFraction,
  }
  return Type.Refine(Type.Unsafe<number | string>({ type: ['number', 'string'], ...notes }), isThirteenDigits)
}

function adviceForFraction(written: string): string | undefined {
  return /^\d{13}\.\d+$/.test(written) ? 'Round it to whole milliseconds.' : undefined
}

function adviceForTime(value: unknown): string | undefined {
  const written = String(value)
  if (/^\d{13}\.\d+$/.test(written)) return adviceForFraction(written)
  if (/^\d{1,9}$/.test(written))
    return 'This looks like a duration: send the time itself, such as the current time plus the duration.'
  if (/^\d{10}$/.test(written)) return 'This is in seconds: multiply it by 1000.'
  if (/^\d{16}$|^\d{19}$/.test(written)) return 'This is in microseconds or nanoseconds: send milliseconds.'
  return /^\d{4}-\d{2}-\d{2}/.test(written) ? 'This is a date as text: send its milliseconds.' : undefined
}

export function isThirteenDigits(value: unknown): value is number | string {
  if (typeof value === 'string') return thirteenDigits.test(value)
  return typeof value === 'number' && Number.isInteger(value) && value >= 1e12 && value < 1e13
}

export function wholeNumber(description: string, { min, max }: { min: number; max: number }) {
  const expected = `a whole number from ${min} to ${max}`
  const notes = { typeName: 'number or string', expected, description }
  const digits = /^(?:0|[1-9][0-9]{0,14})$/
  return Type.Refine(Type.Unsafe<number | string>({ type: ['number', 'string'], ...notes }), (value) => {
    const number = typeof value === 'string' && digits.test(value) ? Number(value) : value
    return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max
  })
}

/** Greater than zero, with a limited number of decimal places. */
export function quantity(description: string, { max, decimals }: { max: number; decimals: number }) {
  const expected = `a number greater than 0, at most ${max}, with at most ${decimals} decimal places`
  const notes = { typeName: 'number or string', expected, description }
  const plainDecimal = new RegExp(`^(?:0|[1-9][0-9]{0,14})(?:\\.[0-9]{1,${decimals}})?$`)
  return Type.Refine(Type.Unsafe<number | string>({ type: ['number', 'string'], ...notes }), (value) => {
    if (typeof value !== 'number' && typeof value !== 'string') return false
    return plainDecimal.test(String(value)) && Number(value) > 0 && Number(value) <= max
  })
}

export function yesOrNo(description: string) {
  return Type.Boolean({ typeName: 'boolean', expected: '`true` or `false`', description })
}

/** A time in our messages, always a number. */
export function timeNumber(description: string) {
  return Type.Integer({
    typeName: 'number',
    expected: 'milliseconds since 1970-01-01 UTC, 13 digits',
    description,
  })
}

export function list<Item extends TSchema>(
  description: string,
  { item, typeName, min = 0, max }: { item: Item; typeName: string; min?: number; max?: number },
) {
  const expected = max === undefined ? 'a list' : `a list of ${min} to ${max} items`
  const bounds = max === undefined ? { minItems: min } : { minItems: min, maxItems: max }
  return Type.Array(item, { ...bounds, typeName, expected, description, adviceFor: adviceForList })
}

/** An object inside another one; `typeName` is the name of its table in the documentation. */
export function nested<Properties extends Record<string, TSchema>>(
  description: string,
  { fields, typeName }: { fields: Properties; typeName: string },
) {
  return Type.Object(fields, { typeName, expected: 'an object', description, adviceFor: adviceForJsonText })
}

/** For an object or a list that was serialized before the whole body was. */
export function adviceForJsonText(value: unknown): string | undefined {
  const isJson = typeof value === 'string' && /^\s*[{[]/.test(value)
  return isJson ? 'This is JSON inside a string. Send the value itself: serialize only once.' : undefined
}

function adviceForList(value: unknown): string | undefined {
  const isOne = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isOne ? 'Send a list, even for one item: [{…}].' : adviceForJsonText(value)
}

/** The value for error messages, shortened so that it never repeats secrets or whole texts. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  const written = inexactNumberText(value)
  if (written !== undefined) return describeInexact(written)
  if (Array.isArray(value)) return describeList(value)
  if (typeof value === 'string') return describeText(value)
  if (typeof value === 'object') return 'an object'
  return String(value)
}

function describeList({ length }: readonly unknown[]): string {
  if (length === 0) return 'an empty list'
  return length === 1 ? 'a list of 1 item' : `a list of ${length} items`
}

function describeInexact(written: string): string {
  if (/[eE]/.test(written)) return 'a number with an exponent'
  return `a number of more than ${maxNumberDigits} digits, which some JSON parsers round`
}

function describeText(value: string): string {
  const [control] = controlCharacter.exec(value) ?? []
  if (control !== undefined) return `text with ${describeControl(control)}`
  const length = [...value].length
  return length <= 40 ? JSON.stringify(value) : `text of ${length} characters`
}

function describeControl(character: string): string {
  if (/[\n\r]/.test(character)) return 'a line break'
  if (character === '\t') return 'a tab'
  return `the control character U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Every field of every message is made by a function of this file, so every one has its notes. */
export function notesOf(schema: TSchema): FieldNotes {
  return schema as TSchema & FieldNotes
}
