// Describes an action's parameters and input by label, without secrets, and with identifiers instead of long texts.
import type { Action } from '../action.ts'
import { displayOf, labelOf } from '../fields.ts'

export interface DescribedField {
  readonly name: string
  readonly label: string
  readonly value: string
}

/** The first part of the summary; the rest explains it. */
export function titleOf({ summary }: Pick<Action, 'summary'>): string {
  return summary.split(/[;:]/, 1)[0] ?? summary
}

/** Omits the reason, which is shown separately. */
export function fieldsOf(
  { params: paramSchema, input: inputSchema }: Pick<Action, 'params' | 'input'>,
  { params, input }: { readonly params: object; readonly input: object },
): DescribedField[] {
  const schemas = { ...paramSchema?.properties, ...inputSchema?.properties }
  return Object.entries({ ...params, ...input }).flatMap(([name, value]) => {
    const schema = schemas[name]
    if (!schema || name === 'reason' || value === undefined) return []
    return { name, label: labelOf(name, schema), value: written(value, displayOf(schema).shown) }
  })
}

function written(value: unknown, shown: ((text: string) => string) | undefined): string {
  if (Array.isArray(value)) return value.map((each) => written(each, shown)).join(', ')
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return shown ? shown(String(value)) : String(value)
}
