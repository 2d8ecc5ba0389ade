// The outcome of one attempt to send something to an address that a merchant chose.

export type UnreachableReason =
  | 'url_not_allowed'
  | 'address_not_public'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'protocol'

export type Delivery =
  | {
      readonly kind: 'answered'
      readonly httpStatus: number
      readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
      readonly answer: Buffer
      readonly retryAfterMs?: number
      readonly durationMs: number
    }
  | {
      readonly kind: 'unreachable'
      readonly reason: UnreachableReason
      readonly detail: string
      /** For a timeout: the request was sent. */
      readonly wasSent?: boolean
      readonly durationMs: number
    }
