// All errors of the SDK: catch TillgateError for all of them, or a subclass for one kind. `code`, `field`, `requestId`
// and `httpStatus` are present if the gateway returned them.

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
  /** The invalid field, such as `order.goods[3].goodsName`. */
  readonly field: string | undefined
  /** Quote it when you contact the operator of the gateway. */
  readonly requestId: string | undefined
  /** Undefined if there was no response. */
  readonly httpStatus: number | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = details.code
    this.field = details.field
    this.requestId = details.requestId
    this.httpStatus = details.httpStatus
  }
}

/** The request is invalid and will stay so: `field` and the message say what to change. */
export class InvalidRequestError extends TillgateError {
  override readonly name = 'InvalidRequestError'
}

/** The gateway could not open the envelope (keys, merchantId) or rejected its time. */
export class AuthenticationError extends TillgateError {
  override readonly name = 'AuthenticationError'
}

/** You are authenticated, but not allowed: suspended, or callback hosts changed too often. */
export class PermissionError extends TillgateError {
  override readonly name = 'PermissionError'
}

/** No such payment order or refund. */
export class NotFoundError extends TillgateError {
  override readonly name = 'NotFoundError'
}

/** The number belongs to something else, or the status or the remaining amount does not allow this. */
export class ConflictError extends TillgateError {
  override readonly name = 'ConflictError'
}

/** Too many requests, also after the wait that the gateway requested. */
export class RateLimitError extends TillgateError {
  override readonly name = 'RateLimitError'
  /** The wait that the gateway requested, if any. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** The gateway, or a proxy before it, is unavailable. The operation may or may not have happened. */
export class UnavailableError extends TillgateError {
  override readonly name = 'UnavailableError'
  /** The wait that the gateway requested, if any. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.retryAfterMs = details.retryAfterMs
  }
}

/** No response arrived. The operation may or may not have happened: repeat it with the same numbers, or query. */
export class ConnectionError extends TillgateError {
  override readonly name: string = 'ConnectionError'
}

/** No response, or no final status, within the time limit. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError'
}

/** The response is not of this protocol; usually the gatewayUrl is wrong. */
export class UnexpectedAnswerError extends TillgateError {
  override readonly name = 'UnexpectedAnswerError'
}

/** The credentials are unusable. `problems` lists all errors, and never contains any part of a key. */
export class CredentialsError extends TillgateError {
  override readonly name = 'CredentialsError'
  /** One sentence for each problem. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[], details: ErrorDetails = {}) {
    super(`The credentials are invalid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, details)
    this.problems = problems
  }
}

export type CallbackRefusal =
  | 'not_an_envelope'
  | 'other_merchant'
  | 'not_opened'
  | 'too_old'
  | 'unreadable_result'

/** The request to the callback address is not a callback of the gateway for this merchant. */
export class CallbackVerificationError extends TillgateError {
  override readonly name = 'CallbackVerificationError'
  /** Only `unreadable_result` is genuine: from the gateway, but of a form that this version does not know. */
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

/** The error for a failure code, also for codes newer than this version. */
export function errorOfCode(code: number, message: string, details: ErrorDetails): TillgateError {
  const family = Math.floor(code / 100)
  const Kind =
    kindsByCode[code] ??
    (kindsByHttpStatus as Readonly<Record<number, typeof TillgateError>>)[family] ??
    (family >= 500 ? UnavailableError : family >= 400 ? InvalidRequestError : UnexpectedAnswerError)
  // The gateway does not say why it could not open an envelope; with the keys at hand, till can.
  const isHelpful = code !== 40100 || message.includes('till debug-signature')
  const hint = isHelpful ? '' : ' Run `npx till debug-signature --help` to find the mistake.'
  return new Kind(`${message}${hint}`, { ...details, code })
}
