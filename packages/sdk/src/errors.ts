// Everything that the SDK throws, as one family: catch TillgateError for all of it, or a subclass for the kind of
// trouble. `code`, `field`, `requestId` and `httpStatus` are there when the gateway answered them.

export interface ErrorDetails {
  readonly code?: number | undefined
  readonly field?: string | undefined
  readonly requestId?: string | undefined
  readonly httpStatus?: number | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/**
 * The base of all errors of this SDK.
 *
 * @example
 * try {
 *   await tillgate.orders.create(order)
 * } catch (error) {
 *   if (error instanceof TillgateError) log(error.code, error.field, error.requestId)
 *   throw error
 * }
 */
export class TillgateError extends Error {
  override readonly name: string = 'TillgateError'
  /** The gateway's code, such as 40001; docs/protocol.md lists them. */
  readonly code: number | undefined
  /** The field at fault, such as `order.goods[3].goodsName`. */
  readonly field: string | undefined
  /** Quote it when you ask the operator of the gateway for help. */
  readonly requestId: string | undefined
  /** Undefined where no answer came. */
  readonly httpStatus: number | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = details.code
    this.field = details.field
    this.requestId = details.requestId
    this.httpStatus = details.httpStatus
  }
}

/** The request is wrong and will stay wrong: `field` and the message say what to change. */
export class InvalidRequestError extends TillgateError {
  override readonly name = 'InvalidRequestError'
}

/** The gateway could not open the envelope (keys, merchantId) or refused its time. */
export class AuthenticationError extends TillgateError {
  override readonly name = 'AuthenticationError'
}

/** The gateway knows you and does not let you: suspended, or callback hosts changed too often. */
export class PermissionError extends TillgateError {
  override readonly name = 'PermissionError'
}

/** No such payment order or refund. */
export class NotFoundError extends TillgateError {
  override readonly name = 'NotFoundError'
}

/** The number was used for something else, or the status or the rest of the money does not allow this. */
export class ConflictError extends TillgateError {
  override readonly name = 'ConflictError'
}

/** Too many requests, also after waiting as long as the gateway asked for. */
export class RateLimitError extends TillgateError {
  override readonly name = 'RateLimitError'
  /** How long the gateway asked to wait, where it did. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** The gateway, or something in front of it, cannot serve now. The operation may or may not have happened. */
export class UnavailableError extends TillgateError {
  override readonly name = 'UnavailableError'
  /** How long the gateway asked to wait, where it did. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** No answer came. The operation may or may not have happened: repeat it with the same numbers, or query. */
export class ConnectionError extends TillgateError {
  override readonly name: string = 'ConnectionError'
}

/** No answer, or no final status, within the time that was given. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError'
}

/** What answered does not speak the protocol: usually a wrong gatewayUrl. */
export class UnexpectedAnswerError extends TillgateError {
  override readonly name = 'UnexpectedAnswerError'
}

/** The credentials cannot be used. `problems` lists all that is wrong with them; no part of a key is ever in it. */
export class CredentialsError extends TillgateError {
  override readonly name = 'CredentialsError'
  /** One sentence for each thing that is wrong. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[], details: ErrorDetails = {}) {
    super(`The credentials are not right:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, details)
    this.problems = problems
  }
}

export type CallbackRefusal =
  | 'not_an_envelope'
  | 'other_merchant'
  | 'not_opened'
  | 'too_old'
  | 'unreadable_result'

/** What came to the callback address is not a callback of the gateway for this merchant. */
export class CallbackVerificationError extends TillgateError {
  override readonly name = 'CallbackVerificationError'
  /** `unreadable_result` alone is from the gateway: genuine, but of a form that this version does not know. */
  readonly reason: CallbackRefusal

  constructor(reason: CallbackRefusal, message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.reason = reason
  }
}

const kindsByHttpStatus = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
} as const satisfies Record<number, typeof TillgateError>

const kindsByCode: Readonly<Record<number, typeof TillgateError>> = {
  40010: AuthenticationError,
  // A wrong path is not a missing order.
  40401: InvalidRequestError,
}

/** The error for a failure that the gateway answered, also for codes that came after this version. */
export function errorOfCode(code: number, message: string, details: ErrorDetails): TillgateError {
  const family = Math.floor(code / 100)
  const Kind =
    kindsByCode[code] ??
    (kindsByHttpStatus as Readonly<Record<number, typeof TillgateError>>)[family] ??
    (family >= 500 ? UnavailableError : family >= 400 ? InvalidRequestError : UnexpectedAnswerError)
  // The gateway does not say what was wrong with an envelope that stayed closed; with the keys at hand, till can.
  const hint = code === 40100 ? ' `npx till debug-signature --help` finds out what is wrong with it.' : ''
  return new Kind(`${message}${hint}`, { ...details, code })
}
