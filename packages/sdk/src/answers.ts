// Checks the fields of a response's `data` that the SDK and its callers need; other fields are trusted.
import type { JsonObject } from '@tillgate/protocol'
import { UnexpectedAnswerError } from './errors.ts'

export function expectTexts<Data>(data: JsonObject, names: readonly (keyof Data & string)[]): Data {
  const missing = names.find((name) => typeof data[name] !== 'string' || data[name] === '')
  if (missing !== undefined) {
    throw new UnexpectedAnswerError(`The gateway answered success without ${missing}.`, { httpStatus: 200 })
  }
  // Safe: the protocol guarantees the rest, and later versions only add fields.
  return data as Data
}
