// Turns a schema into a reader: fast and compiled for valid values; for invalid ones, a Failure that names the field by
// its path and what was expected.
import type { Static, TSchema } from 'typebox'
// Not typebox/compile, which is the same compiler with unused codecs and takes 65 ms more to load.
import { Compile, type Validator } from 'typebox/schema'
import { Failure, type FailureName } from './codes.ts'
import { adviceForJsonText, describeValue, notesOf } from './fields.ts'
import { inexactNumberText, type Json, JsonError, readJson } from './json/json.ts'
import { didYouMean } from './messages/edit-distance.ts'
import { isOtherWord, plainName } from './messages/field-names.ts'
import { describeIgnored, type Ignoring, makeDropUnread } from './messages/unread-fields.ts'

export interface ReaderOptions {
  readonly failure: FailureName
  /** The name of the whole text in errors: "the envelope", "the body". */
  readonly whole: string
  readonly maxMarks?: number
}

/** Parses JSON text strictly and validates it. */
export function makeReader<Schema extends TSchema>(
  schema: Schema,
  options: ReaderOptions,
): (text: string) => Static<Schema> {
  const check = makeChecker(schema, options)
  return (text) => check(readJsonOrFail(text, options))
}

/** Parses a request's body, and reports its ignored fields. */
export function makeBodyReader<Schema extends TSchema>(
  schema: Schema,
): (text: string) => Static<Schema> & Ignoring {
  const options: ReaderOptions = { failure: 'invalid_field', whole: 'the body' }
  const check = makeChecker(schema, options)
  return (text) => {
    const unknown: string[] = []
    const body = check(readJsonOrFail(text, options), unknown)
    // A valid body is an object. A field of this name is unknown, so it may be replaced.
    if (unknown.length > 0) Object.assign(body as object, { ignoredFields: describeIgnored(unknown, schema) })
    return body as Static<Schema> & Ignoring
  }
}

/** Validates a parsed value, without its empty fields, and collects the paths of unknown fields. */
export function makeChecker<Schema extends TSchema>(
  schema: Schema,
  options: ReaderOptions,
): (value: Json, unknown?: string[]) => Static<Schema> {
  // Compiled at first use, because a dozen schemas would delay every start and most programs use only a few.
  let compiled: Validator<Schema> | undefined
  const dropUnread = makeDropUnread(schema)
  return (value, unknown) => {
    compiled ??= Compile(schema)
    dropUnread(value, unknown)
    if (compiled.Check(value)) return value as Static<Schema>
    throw explain(schema, value, compiled.Errors(value)[1][0], options)
  }
}

function readJsonOrFail(text: string, { failure, whole, maxMarks }: ReaderOptions): Json {
  try {
    return readJson(text, maxMarks === undefined ? {} : { maxMarks })
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new Failure(failure, {
      message: `${capitalized(whole)} cannot be read as JSON: ${error.message}.${text.trim() === '' ? ' Send a JSON object.' : ''}`,
      cause: error,
    })
  }
}

interface Violation {
  readonly keyword: string
  readonly instancePath: string
  readonly params: object
}

function explain(
  schema: TSchema,
  value: Json,
  violation: Violation | undefined,
  options: ReaderOptions,
): Failure {
  // The check failed, so there is a violation; otherwise the library contradicts itself.
  if (violation === undefined) throw new Error('the schema refuses the value and cannot say why')
  const keys = violation.instancePath.split('/').slice(1).map(unescapePointer)
  const missing = missingProperty(violation)
  if (missing !== undefined) keys.push(missing)
  const { failure, whole } = options
  const found = walk(schema, value, keys)
  const field = fieldPath(keys)
  if (field === '') {
    const message = `${capitalized(whole)} must be a JSON object, but was ${describeValue(value)}.${after(adviceForJsonText(value))}`
    return new Failure(failure, { message })
  }
  if (found.schema === undefined) {
    const known = namesIn(walk(schema, value, keys.slice(0, -1)).schema)
    const suggestion = didYouMean((keys.at(-1) ?? '').slice(0, maxCompared.length), known)
    const fields = suggestion === '' ? ` Remove it. The fields are ${known.join(', ')}.` : suggestion
    return new Failure(failure, { field, message: `${field} is not a field of ${whole}.${fields}` })
  }
  const { expected, adviceFor } = notesOf(found.schema)
  if (missing !== undefined) {
    const around = keys.slice(0, -1)
    const advice =
      sentElsewhere(missing, { schema, value, around }) ?? sentInstead(missing, walk(schema, value, around))
    return new Failure(failure, {
      field,
      message: `${field} is missing: it must be ${expected}.${after(advice)}`,
    })
  }
  const advice = adviceForNumber(found.value, found.schema) ?? adviceFor?.(found.value)
  const message = `${field} must be ${expected}, but was ${describeValue(found.value)}.${after(advice)}`
  return new Failure(failure, { field, message })
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A further sentence, if any. */
function after(sentence: string | undefined): string {
  return sentence === undefined ? '' : ` ${sentence}`
}

function adviceForNumber(value: unknown, schema: TSchema): string | undefined {
  const written = inexactNumberText(value)
  if (written === undefined) return undefined
  const advice = notesOf(schema).adviceForInexact?.(written)
  if (advice !== undefined) return advice
  return written.includes('.') && !/e/i.test(written)
    ? 'Round it, because sums in floating point gain digits, or send it as a string such as "12.50".'
    : 'Send it as a string of plain digits.'
}

/** Names that a sender made up may be many and long, and comparing them takes time. */
const maxCompared = { names: 20, length: 40 } as const
const maxListed = 3

/** Finds the missing field beside the object that it belongs to, or inside another object. */
function sentElsewhere(
  missing: string,
  { schema, value, around }: { schema: TSchema; value: Json; around: readonly string[] },
): string | undefined {
  const parent = around.at(-1)
  const [above, inside] = [
    parent === undefined ? undefined : walk(schema, value, around.slice(0, -1)),
    walk(schema, value, around),
  ]
  if (parent !== undefined && above && isStray(missing, above))
    return `You sent ${missing} beside ${parent}: move it into ${parent}.`
  const holder = Object.keys(inside.value as object)
    .slice(0, maxCompared.names)
    .find(
      (name) => name.length <= maxCompared.length && isStray(missing, walk(schema, value, [...around, name])),
    )
  return holder === undefined ? undefined : `You sent ${missing} inside ${holder}: move it out of ${holder}.`
}

function isStray(name: string, { schema, value }: Found): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.hasOwn(value, name) && !namesIn(schema).includes(name)
}

/** Unknown fields of the object, one of which may be the missing one under another name. */
function sentInstead(missing: string, { schema, value }: Found): string | undefined {
  const known = namesIn(schema)
  const sent = Object.keys(value as object)
  const unknown = sent
    .filter((name) => !known.includes(name) && name.length <= maxCompared.length)
    .slice(0, maxCompared.names)
  const spelling = unknown.find((name) => isSpelling(plainName(name), plainName(missing)))
  if (spelling !== undefined) return `You sent ${spelling}: rename it to ${missing}.`
  const field = (schema as { properties?: Record<string, TSchema> } | undefined)?.properties?.[missing]
  const advice = field && notesOf(field).adviceBeside?.(unknown)
  if (advice !== undefined) return advice
  if (unknown.length > maxListed && !sent.some((name) => known.includes(name)))
    return 'No field that you sent is one of these: check that the body belongs to the method.'
  const listed = unknown.slice(0, maxListed)
  if (listed.length === 0) return undefined
  if (listed.length === 1)
    return `You sent ${listed[0]}, which is not a field here: rename it if it is your ${missing}.`
  return `You sent ${listed.join(', ')}, which are not fields here: rename the one that is your ${missing}.`
}

function isSpelling(name: string, meant: string): boolean {
  if (isOtherWord(name, meant)) return true
  if (name.length >= minEnding && (meant.endsWith(name) || name.endsWith(meant))) return true
  return name.startsWith(meant) || didYouMean(name, [meant]) !== ''
}

/** Shorter endings, such as "no", are common to many names. */
const minEnding = 4

function namesIn(schema: TSchema | undefined): readonly string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {})
}

function missingProperty({ keyword, params }: Violation): string | undefined {
  if (keyword !== 'required') return undefined
  return (params as { requiredProperties: readonly string[] }).requiredProperties[0]
}

interface Found {
  readonly schema: TSchema | undefined
  readonly value: unknown
}

function walk(schema: TSchema, value: Json, keys: readonly string[]): Found {
  let at: TSchema | undefined = schema
  let found: unknown = value
  for (const key of keys) {
    const { properties, items } = (at ?? {}) as { properties?: Record<string, TSchema>; items?: TSchema }
    at = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : items
    found = (found as Record<string, unknown>)[key]
  }
  return { schema: at, value: found }
}

/** ["order", "goods", "3", "goodsName"] is order.goods[3].goodsName. A sender's field name may have any length. */
function fieldPath(keys: readonly string[]): string {
  const path = keys.map((key, i) => (/^[0-9]+$/.test(key) ? `[${key}]` : i === 0 ? key : `.${key}`)).join('')
  return path.length <= maxFieldPathLength ? path : `${path.slice(0, maxFieldPathLength).toWellFormed()}…`
}

const maxFieldPathLength = 128

function unescapePointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
