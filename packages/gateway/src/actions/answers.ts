// Reduces what `run` returned to the fields of the answer's schema, so that no other field of a record can reach an
// adapter, and no action copies field by field.
import type { TSchema } from 'typebox'

/** The type that `run` may return for `T`: it may have more fields, and undefined for optional ones. */
export type Answered<T> = T extends readonly (infer Item)[]
  ? readonly Answered<Item>[]
  : T extends object
    ? {
        readonly [Name in keyof T]:
          | Answered<T[Name]>
          | (Record<string, never> extends Pick<T, Name> ? undefined : never)
      }
    : T

/** Media types of file answers. */
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
  // Safe, both: the type of `run` follows the schema.
  if (items) return (found as readonly unknown[]).map((item) => answerOf(items, item))
  if (!properties) return found
  const record = found as Readonly<Record<string, unknown>>
  const named = Object.entries(properties).filter(([name]) => record[name] !== undefined)
  return Object.fromEntries(named.map(([name, field]) => [name, answerOf(field, record[name])]))
}
