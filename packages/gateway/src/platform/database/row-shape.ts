// Maps a row to a value: each property with its column or expression, declared once for the select list and the
// mapping. Null becomes undefined. The driver returns a bigint as text, so numbers and bigints are declared.
import { plainSql, type Sql } from './sql.ts'

interface Converted<Value> {
  readonly from: string
  readonly convert: (stored: string) => Value
}

type Source<Value> = Value extends number | bigint ? Converted<Value> : string

export type Sources<Type> = { readonly [Name in keyof Type]-?: Source<NonNullable<Type[Name]>> }

export interface RowShape<Type> {
  /** Aliases start with the shape's name, so that one row can hold several shapes. */
  readonly columns: Sql
  readonly read: (row: Readonly<Record<string, unknown>>) => Type
}

export function number(from: string): Converted<number> {
  return { from, convert: Number }
}

export function bigint(from: string): Converted<bigint> {
  return { from, convert: BigInt }
}

export function rowShape<Type>(name: string, sources: Sources<Type>): RowShape<Type> {
  const fields = Object.entries<string | Converted<unknown>>(sources).map(([property, source]) => {
    const { from, convert } = typeof source === 'string' ? { from: source, convert: undefined } : source
    return { property, from, convert, alias: `${name}.${property}` }
  })
  return {
    columns: plainSql(fields.map(({ from, alias }) => `${from} as "${alias}"`).join(', ')),
    read: (row) => {
      const value: Record<string, unknown> = {}
      for (const { property, convert, alias } of fields) {
        const stored = row[alias] ?? undefined
        // Safe: a converted column is a number or text.
        value[property] = convert && stored !== undefined ? convert(stored as string) : stored
      }
      // Safe: the sources name every property of it.
      return value as Type
    },
  }
}
