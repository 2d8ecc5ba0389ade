// The catalog of all response codes, and the error class that carries them. The table in docs/protocol.md is generated
// from it, so that every code is documented.

export const successCode = 20000
export const successMessage = 'SUCCESS'

export const failures = {
  malformed_envelope: {
    code: 40000,
    meaning: 'The request envelope is malformed: a field is missing, unknown, repeated or invalid.',
  },
  invalid_field: {
    code: 40001,
    meaning: 'A field of the body is missing or invalid. `data.field` names it.',
  },
  amount_does_not_fit_currency: {
    code: 40002,
    meaning: 'An amount has more decimal places than its currency, or exceeds 10^15.',
  },
  amounts_do_not_add_up: {
    code: 40003,
    meaning: 'A total differs from the sum over the goods. `msg` contains both amounts.',
  },
  times_out_of_range: {
    code: 40004,
    meaning: 'A time or date is outside the allowed range.',
  },
  url_not_allowed: {
    code: 40005,
    meaning: 'The URL is not allowed. `data.field` names it.',
  },
  timestamp_outside_window: {
    code: 40010,
    meaning: 'The envelope’s timestamp is more than 5 minutes away from the gateway’s clock.',
  },
  envelope_not_opened: {
    code: 40100,
    meaning:
      'The envelope could not be opened: check merchantId, the AES key, the RSA key and the string to sign. `till debug-signature`, a command of the SDK, finds which one is wrong.',
  },
  token_not_accepted: {
    code: 40101,
    meaning: 'The bearer token is missing, unknown, expired or revoked.',
    isAdminOnly: true,
  },
  merchant_suspended: {
    code: 40300,
    meaning: 'The merchant is suspended. Ask the operator of the gateway.',
  },
  callback_address_changed_too_often: {
    code: 40301,
    meaning: 'Too many different callback hosts within 24 hours. Use a fixed callbackUrl.',
  },
  not_allowed: {
    code: 40302,
    meaning: 'The operator’s role or the token’s scope does not allow this.',
    isAdminOnly: true,
  },
  order_not_found: {
    code: 40400,
    meaning: 'The payment order or refund does not exist.',
  },
  no_such_operation: {
    code: 40401,
    meaning: 'The path or the `method` does not exist, or this path does not serve the `method`.',
  },
  not_found: {
    code: 40402,
    meaning: 'The resource does not exist.',
    isAdminOnly: true,
  },
  code_not_accepted: {
    code: 40403,
    meaning: 'The payment code is wrong, expired or used. Ask the consumer for a new one.',
  },
  wrong_verb: {
    code: 40500,
    meaning: 'The HTTP method is wrong: use the one in the Allow header.',
  },
  number_already_used: {
    code: 40900,
    meaning: 'The number was already used with different content. Use a new number.',
  },
  status_does_not_allow: {
    code: 40901,
    meaning: 'The status of the payment order does not allow this operation.',
  },
  more_than_left_to_refund: {
    code: 40902,
    meaning: 'The refund exceeds the remaining amount of the payment.',
  },
  more_than_left_to_capture: {
    code: 40903,
    meaning: 'The capture exceeds the remaining amount of the authorization.',
  },
  too_large: {
    code: 41300,
    meaning: 'The request is larger than 256 KiB.',
  },
  not_json: {
    code: 41500,
    meaning: 'The request is not JSON: send it with Content-Type application/json.',
  },
  too_many_requests: {
    code: 42900,
    meaning:
      'Too many requests. Wait the number of seconds in the Retry-After header, then repeat the request.',
  },
  internal: {
    code: 50000,
    meaning: 'The gateway failed. You can safely repeat the request.',
  },
  unavailable: {
    code: 50300,
    meaning:
      'The gateway cannot serve this request now. Wait the number of seconds in the Retry-After header, then repeat the request.',
  },
} as const satisfies Record<string, CatalogEntry>

interface CatalogEntry {
  readonly code: number
  readonly meaning: string
  /** Only returned by the admin API, never to merchants. */
  readonly isAdminOnly?: true
}

export type FailureName = keyof typeof failures

export interface FailureOptions {
  /** What to change; by default the catalog's meaning. */
  readonly message?: string
  /** Path of the invalid field, such as `order.goods[3].goodsName`. */
  readonly field?: string
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

/** An expected, named failure. Any other thrown error is a bug. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly failure: FailureName
  readonly code: number
  // Declared only, so that an absent property does not exist.
  declare readonly field?: string
  declare readonly retryAfterSeconds?: number

  constructor(failure: FailureName, options: FailureOptions = {}) {
    super(
      options.message ?? failures[failure].meaning,
      'cause' in options ? { cause: options.cause } : undefined,
    )
    this.failure = failure
    this.code = failures[failure].code
    if (options.field !== undefined) this.field = options.field
    if (options.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** 40001 is HTTP 400, and 20000 is HTTP 200; the last two digits only distinguish codes. */
export function httpStatusOf(code: number): number {
  return Math.floor(code / 100)
}

const namesByCode: ReadonlyMap<number, FailureName> = new Map(
  Object.entries(failures).map(([name, { code }]) => [code, name as FailureName]),
)

/** The name of a gateway's code; undefined if this catalog does not contain it. */
export function failureNameOf(code: number): FailureName | undefined {
  return namesByCode.get(code)
}
