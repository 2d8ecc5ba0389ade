// Prints an answer for people: facts as lines, lists as tables, each value by its schema.
import type { TObject, TSchema } from 'typebox'
import { table, time } from './context.ts'

export function describeAnswer(answer: object, schema: TObject, columns?: readonly string[]): string[] {
  const entries = Object.entries(answer)
  const lists = entries.filter(([name]) => itemOf(schema.properties[name]))
  const facts = entries.filter(([name]) => name !== 'older' && !itemOf(schema.properties[name]))
  const width = Math.max(...facts.map(([name]) => headOf(name).length))
  const older = (answer as { older?: string }).older
  return [
    ...facts.map(([name, value]) => `${headOf(name).padEnd(width)}  ${cellOf(name, value)}`),
    ...lists.flatMap(([name, rows], index) => [
      ...(facts.length > 0 || index > 0 ? [''] : []),
      ...listing(name, rows as readonly Row[], { item: itemOf(schema.properties[name]), columns }),
    ]),
    ...(older === undefined ? [] : ['', `More: --before ${older}`]),
  ]
}

const maxListed = 12

type Row = Readonly<Record<string, unknown>>

function listing(
  name: string,
  rows: readonly Row[],
  { item, columns }: { item: TObject | undefined; columns: readonly string[] | undefined },
): string[] {
  const all = Object.keys(item?.properties ?? {})
  const chosen = columns?.every((column) => all.includes(column)) ? columns : all
  if (rows.length === 0) return [`No ${name}.`]
  return table(
    chosen.map(headOf),
    rows.map((row) => chosen.map((column) => cellOf(column, row[column]))),
  )
}

function itemOf(schema: TSchema | undefined): TObject | undefined {
  const { items } = (schema ?? {}) as { items?: TObject }
  return items?.properties ? items : undefined
}

function headOf(field: string): string {
  return field.replace(/(At)?Ms$/, '').replace(/(?<!^)[A-Z](?!d\b)/g, (letter) => ` ${letter.toLowerCase()}`)
}

function cellOf(field: string, value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'number' && /(At|Until|From|Since)Ms$/.test(field)) return time(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return listOf(value)
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => `${headOf(name)} ${cellOf(name, inner)}`)
      .join(', ')
  return String(value)
}

/** Complete with --json. Here a rail with every currency would fill the screen. */
function listOf(values: readonly unknown[]): string {
  return values.length <= maxListed
    ? values.join(', ')
    : `${values.slice(0, maxListed).join(', ')} and ${values.length - maxListed} more`
}
