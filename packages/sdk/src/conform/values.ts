// The types of values in the interface's tables.
import type { JsonObject } from '@tillgate/protocol'
import { expect, shown } from './outcome.ts'

type Kind = readonly [is: (value: unknown) => boolean, name: string]

export const text = (max: number): Kind => [
  (value) => typeof value === 'string' && value !== '' && [...value].length <= max,
  `text of at most ${max} characters`,
]
export const message: Kind = [(value) => typeof value === 'string', 'text']
export const time: Kind = [(value) => /^\d{13}$/.test(String(value)), 'a time of 13 digits']
export const currency: Kind = [(value) => /^[A-Z]{3}$/.test(String(value)), 'an ISO 4217 code']
export const amount = (wanted: number): Kind => [
  (value) => (typeof value === 'number' || typeof value === 'string') && Number(value) === wanted,
  `the amount ${wanted}`,
]
export const exactly = (...wanted: readonly unknown[]): Kind => [
  (value) => wanted.includes(value),
  wanted.map((each) => JSON.stringify(each)).join(' or '),
]
export const guid: Kind = [
  (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(value)),
  'a GUID',
]
export const address: Kind = [
  (value) => typeof value === 'string' && value.length <= 2048 && URL.canParse(value),
  'an address of at most 2048 characters',
]

/** Checks each field by its type; of two names for one field, the first that is present. */
export function expectFields(
  where: string,
  object: JsonObject,
  fields: Readonly<Record<string, Kind>>,
): void {
  for (const [names, [is, name]] of Object.entries(fields)) {
    const field = names.split('|').find((each) => object[each] !== undefined) ?? names.split('|')[0] ?? names
    const value = object[field]
    expect(value !== undefined, `${where}: ${names.replaceAll('|', ' or ')} is missing`)
    expect(is(value), `${where}: ${field} is ${shown(value)}, not ${name}`)
  }
}
