// Answers of actions: what `run` found, cut to the fields that the answer's schema names, so that nothing else of a record
// can reach an adapter and no action has to copy field by field.
import type { TSchema } from 'typebox'

/** What may be answered for `T`: it may hold more, and undefined where a field is optional. */
export type Answered<T> = T extends readonly (infer Item)[]
  ? readonly Answered<Item>[]
  : T extends object
    ? {
        readonly [Name in keyof T]:
          | Answered<T[Name]>
          | (Record<string, never> extends Pick<T, Name> ? undefined : never)
      }
    : T

/** Of answers that are files, what they are called on the wire. */
export const fileTypes = {
  csv: 'text/csv',
  xml: 'application/xml',
} as const

export type FileType = keyof typeof fileTypes

export function isFile(answer: TSchema | FileType): answer is FileType {
  return typeof answer === 'string'
}

export function answerOf(schema: TSchema | FileType, found: unknown): unknown {
  if (isFile(schema)) return found
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  // Safe, both: `run` is held to the schema by its type.
  if (items) return (found as readonly unknown[]).map((item) => answerOf(items, item))
  if (!properties) return found
  const record = found as Readonly<Record<string, unknown>>
  const named = Object.entries(properties).filter(([name]) => record[name] !== undefined)
  return Object.fromEntries(named.map(([name, field]) => [name, answerOf(field, record[name])]))
}
