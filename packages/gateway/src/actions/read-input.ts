// Converts what a person typed, in a form or on the command line, to the input of an action. Every field is validated
// by its schema, and all errors are collected.
import { Failure } from '@tillgate/protocol'
import type { TObject, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import type { Action, RawInput } from './action.ts'
import { displayOf, labelOf } from './fields.ts'

export interface FieldError {
  /** Undefined if the error concerns no field of this action. */
  readonly field: string | undefined
  readonly message: string
}

export interface ReadInput {
  readonly params: Record<string, unknown> | undefined
  readonly input: Record<string, unknown> | undefined
  readonly errors: readonly FieldError[]
}

interface ReadOptions {
  readonly required?: readonly string[] | undefined
  readonly nameOf: (field: string) => string
  /** The error texts; English by default. */
  readonly say?: typeof inEnglish
}

const inEnglish = {
  missing: (name: string): string => `Enter a value for “${name}”.`,
  invalid: (name: string, expected: string): string => `${name} must be ${expected}.`,
}

export function readInput(
  action: Pick<Action, 'params' | 'input' | 'checks'>,
  raw: RawInput,
  { required = [], nameOf, say = inEnglish }: ReadOptions,
): ReadInput {
  const errors: FieldError[] = []
  const read = (schema: TObject | undefined) => {
    if (!schema) return undefined
    const must: readonly string[] = [...(schema.required ?? []), ...required]
    const values: Record<string, unknown> = {}
    for (const [field, property] of Object.entries(schema.properties)) {
      const value = valueFrom(raw[field], property)
      if (value === undefined) {
        if (must.includes(field)) errors.push({ field, message: say.missing(nameOf(field)) })
      } else if (validatorOf(property).Check(value)) values[field] = value
      else errors.push({ field, message: say.invalid(nameOf(field), expectedOf(property, value)) })
    }
    return values
  }
  const [params, input] = [read(action.params), read(action.input)]
  errors.push(...refusalsOf(action, { ...params, ...input }).map(toFieldError))
  return { params, input, errors }
}

/** Runs the checks beyond the schema and collects what they throw. */
export function refusalsOf({ checks }: Pick<Action, 'checks'>, given: Readonly<Record<string, unknown>>) {
  return Object.entries(checks).flatMap(([field, check]): unknown[] => {
    if (given[field] === undefined) return []
    try {
      check(given)
      return []
    } catch (error) {
      return [error]
    }
  })
}

/** Returns errors that the person can correct, and rethrows all others. */
export function toFieldError(error: unknown): FieldError {
  if (error instanceof Failure) return { field: error.field, message: error.message }
  throw error
}

/** The field's label, for errors and forms. */
export function nameInForm(action: Pick<Action, 'params' | 'input'>): (field: string) => string {
  const properties = { ...action.params?.properties, ...action.input?.properties }
  return (field) => labelOf(field, properties[field])
}

/** Reads a field of a form: checked boxes and lists of lines as they are, everything else as one text. */
export function typedIn(typed: URLSearchParams, name: string, schema: TSchema | undefined): RawInput[string] {
  const all = typed.getAll(name)
  if (all.length > 0 && schema && displayOf(schema).kind === 'lines')
    return all.flatMap((text) => text.split(/\r?\n/))
  return all.length > 1 ? all : all[0]
}

/** A list in one text is separated by commas. */
function valueFrom(raw: RawInput[string], schema: TSchema): unknown {
  const { type } = schema as { type?: string }
  const { fromText = (text: string) => text } = displayOf(schema)
  if (type === 'array') {
    const texts = typeof raw === 'string' ? raw.split(',') : (raw ?? [])
    const items = texts.map((text) => fromText(text.trim())).filter((text) => text !== '')
    return items.length === 0 ? undefined : items
  }
  const written = (typeof raw === 'string' ? raw : raw?.[0])?.trim() ?? ''
  if (written === '') return undefined
  const text = fromText(written)
  if (type === 'boolean') return text === 'true'
  return type === 'integer' && /^\d{1,15}$/.test(text) ? Number(text) : text
}

function expectedOf(schema: TSchema, given: unknown): string {
  const { expected, items } = schema as { expected?: string; items?: TSchema }
  const unfit = items && Array.isArray(given) ? given.filter((item) => !validatorOf(items).Check(item)) : []
  // Names the invalid items of a list.
  if (items && unfit.length > 0) {
    const names = unfit.slice(0, maxNamed).map((item) => `"${String(item).slice(0, maxShown)}"`)
    return `a list in which each item is ${expectedOf(items, undefined)}; ${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} not`
  }
  return expected?.replaceAll('`', '').replace(' as text', '') ?? 'something else'
}

/** The maximum number of invalid items named. */
const maxNamed = 3
const maxShown = 40

const validators = new WeakMap<TSchema, Validator>()

function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema) ?? Compile(schema)
  validators.set(schema, known)
  return known
}
