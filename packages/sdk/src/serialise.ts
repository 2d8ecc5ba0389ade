// Serializes a body. JSON.stringify writes null for numbers without a JSON form, which would silently remove an amount,
// so such values are rejected with the path of their field.
import { failures } from '@tillgate/protocol'
import { InvalidRequestError } from './errors.ts'

export function serialise(body: object): string {
  check(body, '')
  return JSON.stringify(body)
}

function check(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw refused(path, `is ${value}`)
  if (typeof value === 'bigint') throw refused(path, 'is a bigint: give its decimal text, such as "12.50"')
  if (typeof value === 'function' || typeof value === 'symbol') throw refused(path, `is a ${typeof value}`)
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) check(member, path === '' ? key : `${path}.${key}`)
  }
}

function refused(field: string, why: string): InvalidRequestError {
  return new InvalidRequestError(`${field} ${why}, which cannot be sent.`, {
    code: failures.invalid_field.code,
    field,
  })
}
