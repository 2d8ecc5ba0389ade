// What the admin API is made of: routes as data, each with the schemas of what goes in and what comes out. serve.ts
// checks by them, openapi.ts describes by them, so neither can drift from the other.
import { merchantIdPattern, paymentIdPattern, uuidPattern } from '@tillgate/protocol'
import type { Static, TObject, TSchema } from 'typebox'
import type { ApiToken, Scope } from '../../operators/rules/api-token.ts'
import type { Operator } from '../../operators/rules/operator.ts'
import type { ConsoleService } from '../console/service.ts'
import { integer, list, longText, matching, optional, text, visibleCharacters } from './fields.ts'

export const apiPrefix = '/api/admin/v1'

export interface ApiCall<Params = unknown, Query = unknown, Body = unknown> {
  readonly service: ConsoleService
  readonly operator: Operator
  readonly token: ApiToken
  /** For the audit: who, with which token, from where. */
  readonly actor: string
  readonly nowMs: number
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** What the Idempotency-Key stands for; empty where the route asks for none. */
  readonly actId: string
}

export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Below the prefix, parameters as `:name`. */
  readonly path: string
  /** For programs that make clients out of the description. */
  readonly id: string
  /** Undefined: any token. */
  readonly scope: Scope | undefined
  readonly summary: string
  readonly params: TObject | undefined
  readonly query: TObject | undefined
  readonly body: TObject | undefined
  /** A file is sent as it is, without the envelope. */
  readonly answer: TObject | 'csv'
  /** Wants an Idempotency-Key. */
  readonly isOnce: boolean
  readonly act: (call: ApiCall) => Promise<unknown>
}

type Checked<Schema> = Schema extends TSchema ? Static<Schema> : undefined

interface RouteGiven<Params, Query, Body, Answer extends TObject | 'csv'> {
  readonly method: ApiRoute['method']
  readonly path: string
  readonly id: string
  readonly scope: Scope | undefined
  readonly summary: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly answer: Answer
  readonly isOnce?: true
  readonly act: (
    call: ApiCall<Checked<Params>, Checked<Query>, Checked<Body>>,
  ) => Promise<Answer extends TSchema ? Static<Answer> : AsyncIterable<string>>
}

/** Holds `act` to its schemas while it is written. */
export function route<
  Answer extends TObject | 'csv',
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TObject | undefined = undefined,
>(given: RouteGiven<Params, Query, Body, Answer>): ApiRoute {
  return {
    ...given,
    params: given.params,
    query: given.query,
    body: given.body,
    isOnce: given.isOnce ?? false,
    // Safe: serve.ts checks by these very schemas before it calls.
    act: given.act as ApiRoute['act'],
  }
}

export const merchantId = matching('The merchant’s number.', {
  regexp: merchantIdPattern,
  expected: '18 digits',
})
export const paymentId = matching('The payment order’s number.', {
  regexp: paymentIdPattern,
  expected: 'a paymentId, such as `P01K73ZQ800JZ7V3N4Q5R6S7T8W`',
})
export const uuid = (description: string) =>
  matching(description, {
    regexp: uuidPattern,
    expected: 'a UUID in lower case',
  })
export const reason = text('Why, for the audit.', { max: 256, pattern: visibleCharacters })
export const currency = matching('ISO 4217 code.', {
  regexp: /^[A-Z]{3}$/,
  expected: 'three capital letters',
})

export const publicKey = longText('An RSA public key, PEM or base64.', { max: 16_384 })
export const aesKey = text('In base64. Told this once: hand it over now.', { max: 64 })
export const callbackHosts = list('The only hosts that callbacks may go to.', text('A host.', { max: 260 }), {
  max: 100,
})

export const defaultLimit = 50
export const limit = optional(integer(`At most so many; ${defaultLimit} unless given.`, { min: 1, max: 200 }))

/** One page of a list, the newest first: `older` is the `before` of the next page. */
export async function pageOf<Item>(
  query: { readonly limit?: number; readonly before?: string },
  read: (page: { limit: number; before?: string | undefined }) => Promise<readonly Item[]>,
  keyOf: (item: Item) => string,
): Promise<{ items: readonly Item[]; older?: string }> {
  const wanted = query.limit ?? defaultLimit
  const found = await read({ limit: wanted + 1, before: query.before })
  const items = found.slice(0, wanted)
  const last = items.at(-1)
  return { items, ...(found.length > wanted && last !== undefined && { older: keyOf(last) }) }
}
