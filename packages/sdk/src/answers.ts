// Trusts an answer's `data` only as far as it was looked at: the fields that the SDK and its callers cannot do
// without must be there.
import type { JsonObject } from '@tillgate/protocol'
import { UnexpectedAnswerError } from './errors.ts'

export function expectTexts<Data>(data: JsonObject, names: readonly (keyof Data & string)[]): Data {
  const missing = names.find((name) => typeof data[name] !== 'string' || data[name] === '')
  if (missing !== undefined) {
    throw new UnexpectedAnswerError(`The gateway answered success without ${missing}.`, { httpStatus: 200 })
  }
  // Safe: the protocol promises the rest, and what it adds later is only more.
  return data as Data
}
