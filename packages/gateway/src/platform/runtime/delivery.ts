// What came of one attempt to send something to an address that a merchant chose.

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
      /** Names in lower case. */
      readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
      /** The first bytes of it. */
      readonly answer: Buffer
      readonly retryAfterMs?: number
      readonly durationMs: number
    }
  | {
      readonly kind: 'unreachable'
      readonly reason: UnreachableReason
      readonly detail: string
      /** Of a timeout: the connection was there and took the request. */
      readonly wasSent?: boolean
      readonly durationMs: number
    }
