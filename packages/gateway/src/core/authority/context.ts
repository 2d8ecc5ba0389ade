// The caller of an operation, its authority, and the merchants it can reach. Operations on several merchants take an
// `AnyContext`, and passing a `MerchantContext` to them is a type error.
import type { Authority } from './rules/authority.ts'

export interface Actor {
  /** As in the audit log, such as `cli:alice`. */
  readonly actor: string
  /**
   * Checked again in the transaction of every change, with the second operator's approval if given. Undefined for the
   * gateway itself and for people at their own account.
   */
  readonly authority?: Authority | undefined
}

export interface AnyContext extends Actor {
  readonly merchantId: undefined
}

export interface MerchantContext extends Actor {
  readonly merchantId: string
}

export type Context = AnyContext | MerchantContext

export function reachingAll(by: string | (Actor & { readonly merchantId?: undefined })): AnyContext {
  return typeof by === 'string' ? { actor: by, merchantId: undefined } : { ...by, merchantId: undefined }
}

export function reading<Given extends readonly unknown[], Result>(read: (...given: Given) => Result) {
  return (_context: AnyContext, ...given: Given): Result => read(...given)
}

export type Reading<Read> = Read extends (...given: infer Given) => infer Result
  ? (context: AnyContext, ...given: Given) => Result
  : never
