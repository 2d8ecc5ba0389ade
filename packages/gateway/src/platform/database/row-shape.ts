// How a row becomes a value of the program: each property with the column or expression that it is read from, declared
// once for the select list and for the reading. Null is undefined. The driver gives a bigint as text, so a property that
// is a number or a bigint says so.
import { plainSql, type Sql } from './sql.ts'

interface Converted<Value> {
  readonly from: string
  readonly convert: (stored: string) => Value
}

type Source<Value> = Value extends number | bigint ? Converted<Value> : string

export type Sources<Type> = { readonly [Name in keyof Type]-?: Source<NonNullable<Type[Name]>> }

export interface RowShape<Type> {
  /** For the select list. Properties are told apart from those of another shape in the same row by the shape's name. */
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
        // Safe: what is converted is a number or comes as text.
        value[property] = convert && stored !== undefined ? convert(stored as string) : stored
      }
      // Safe: the sources name every property of it.
      return value as Type
    },
  }
}
