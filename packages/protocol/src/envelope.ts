// The two envelopes, for requests and for callbacks: their fields, their parsing, and the string to sign. Parsing sets
// the default of every optional field, because defaults are signed too.
import type { Static } from 'typebox'
import { Failure } from './codes.ts'
import { base64, choice, pattern, time } from './fields.ts'
import { merchantIdPattern, uuidPattern } from './ids.ts'
import { maxEnvelopeBytes, maxEnvelopeMarks, maxMethodLength } from './limits.ts'
import { Type } from './type.ts'
import { makeReader } from './validation.ts'

// Every value except the body has an alphabet without `&` and `=`, so that no field can be smuggled into another.
const dottedName = {
  regexp: /^(?=.{1,64}$)[a-z]+(?:\.[a-z]+)*$/,
  expected: `a dotted name in lower case of at most ${maxMethodLength} characters`,
}

const merchantId = pattern('The merchant.', {
  regexp: merchantIdPattern,
  expected: '18 letters or digits',
})

const commonFields = {
  format: Type.Optional(choice('The body’s format. `json` by default.', ['json'])),
  charset: Type.Optional(
    pattern('The body’s encoding, signed as it is sent. `utf-8` by default.', {
      regexp: /^utf-8$/i,
      expected: '`utf-8`, in any case',
    }),
  ),
  encryptType: Type.Optional(choice('The encryption. `AES` by default.', ['AES'])),
  signType: Type.Optional(choice('The signature algorithm. `RSA` by default.', ['RSA'])),
  sign: base64('The signature over the string to sign.'),
}

export const requestEnvelopeSchema = Type.Object(
  {
    merchantId,
    method: pattern('The operation.', {
      ...dottedName,
      expected: `${dottedName.expected}, such as service.trade.create`,
    }),
    ...commonFields,
    timestamp: time('The time of the request.'),
    body: base64('The encrypted body.'),
  },
  { additionalProperties: false },
)

export const callbackEnvelopeSchema = Type.Object({
  id: pattern('The callback’s id, the same on every attempt.', {
    regexp: uuidPattern,
    expected: 'a UUID in lower case',
  }),
  merchantId,
  eventName: pattern('The event.', dottedName),
  ...commonFields,
  timestamp: time('The time of this attempt, sent as a string.'),
  body: base64('The encrypted result object.'),
})

export type RequestWire = Static<typeof requestEnvelopeSchema>
export type CallbackWire = Static<typeof callbackEnvelopeSchema>

interface CommonEnvelope {
  readonly merchantId: string
  readonly format: 'json'
  /** As sent, because it is signed; utf-8 in any case. */
  readonly charset: string
  readonly encryptType: 'AES'
  readonly signType: 'RSA'
  readonly sign: string
  /** 13 digits. */
  readonly timestamp: string
  readonly body: string
}

export interface RequestEnvelope extends CommonEnvelope {
  readonly method: string
}

export interface CallbackEnvelope extends CommonEnvelope {
  readonly id: string
  readonly eventName: string
  /** Fields that a later gateway added. They are signed, and this version ignores them. */
  readonly later?: Readonly<Record<string, string>>
}

const envelopeOptions = {
  failure: 'malformed_envelope',
  whole: 'the envelope',
  maxMarks: maxEnvelopeMarks,
} as const
const readRequestWire = makeReader(requestEnvelopeSchema, envelopeOptions)
const readCallbackWire = makeReader(callbackEnvelopeSchema, envelopeOptions)

export function parseRequestEnvelope(text: string): RequestEnvelope {
  refuseTooLarge(text)
  const wire = readRequestWire(text)
  return { ...commonOf(wire), method: wire.method }
}

export function parseCallbackEnvelope(text: string): CallbackEnvelope {
  refuseTooLarge(text)
  const wire = readCallbackWire(text)
  const later = laterFields(wire)
  return { ...commonOf(wire), id: wire.id, eventName: wire.eventName, ...(later && { later }) }
}

/** As restricted as the known fields, so that no later field can be smuggled into another or into the body. */
const laterName = /^[A-Za-z][A-Za-z0-9]{0,63}$/
const laterValue = /^[A-Za-z0-9._:/+-]*$/

function laterFields(wire: CallbackWire): Record<string, string> | undefined {
  let later: Record<string, string> | undefined
  for (const [name, value] of Object.entries(wire)) {
    if (Object.hasOwn(callbackEnvelopeSchema.properties, name)) continue
    if (!laterName.test(name) || typeof value !== 'string' || !laterValue.test(value)) {
      const field = name.length <= 64 ? name : `${name.slice(0, 64).toWellFormed()}…`
      const message = `${field} is not a field of the envelope and is not a valid field name.`
      throw new Failure('malformed_envelope', { field, message })
    }
    later ??= {}
    later[name] = value
  }
  return later
}

/** The length in UTF-16 units never exceeds the length in UTF-8 bytes, and is free to check. */
function refuseTooLarge(text: string): void {
  if (text.length > maxEnvelopeBytes) throw new Failure('too_large')
}

function commonOf(wire: RequestWire | CallbackWire): CommonEnvelope {
  return {
    merchantId: wire.merchantId,
    format: wire.format ?? 'json',
    charset: wire.charset ?? 'utf-8',
    encryptType: wire.encryptType ?? 'AES',
    signType: wire.signType ?? 'RSA',
    sign: wire.sign,
    timestamp: String(wire.timestamp),
    body: wire.body,
  }
}

export type RequestToSign = Pick<RequestEnvelope, 'merchantId' | 'method' | 'timestamp'> &
  Partial<Pick<RequestEnvelope, 'charset'>>
export type CallbackToSign = Pick<
  CallbackEnvelope,
  'id' | 'merchantId' | 'eventName' | 'timestamp' | 'later'
> &
  Partial<Pick<CallbackEnvelope, 'charset'>>

/**
 * Every field except `sign`, sorted by name, as `name=value` joined by `&`; `plainBody` is the body before encryption.
 */
export function requestStringToSign(
  { merchantId, method, timestamp, charset = 'utf-8' }: RequestToSign,
  plainBody: string,
): string {
  return `body=${plainBody}&charset=${charset}&encryptType=AES&format=json&merchantId=${merchantId}&method=${method}&signType=RSA&timestamp=${timestamp}`
}

export function callbackStringToSign(envelope: CallbackToSign, plainBody: string): string {
  const { id, merchantId, eventName, timestamp, later, charset = 'utf-8' } = envelope
  const known = `body=${plainBody}&charset=${charset}&encryptType=AES&eventName=${eventName}&format=json&id=${id}&merchantId=${merchantId}&signType=RSA&timestamp=${timestamp}`
  if (later === undefined) return known
  const fixed = { charset, encryptType: 'AES', format: 'json', signType: 'RSA' }
  const fields = { ...later, ...fixed, id, merchantId, eventName, timestamp, body: plainBody }
  return Object.entries(fields)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}
