// Who calls an operation, by whose right, and which merchants the call reaches. Every operation takes one, and the types
// say how far: what can reach several merchants takes an `AnyContext`, and a `MerchantContext` does not compile there.
import type { Authority } from './rules/authority.ts'

export interface Actor {
  /** Who and from where, as in the audit log, such as `cli:alice`. */
  readonly actor: string
  /**
   * Checked again in the transaction of every change; it carries the second operator's approval if one was given.
   * Undefined: the gateway itself, or a person at their own account.
   */
  readonly authority?: Authority | undefined
}

/** Reaches every merchant. */
export interface AnyContext extends Actor {
  readonly merchantId: undefined
}

/** Reaches one merchant. */
export interface MerchantContext extends Actor {
  readonly merchantId: string
}

export type Context = AnyContext | MerchantContext

export function reachingAll(by: string | (Actor & { readonly merchantId?: undefined })): AnyContext {
  return typeof by === 'string' ? { actor: by, merchantId: undefined } : { ...by, merchantId: undefined }
}

/** A read of a store as an operation that reaches every merchant. */
export function reading<Given extends readonly unknown[], Result>(read: (...given: Given) => Result) {
  return (_context: AnyContext, ...given: Given): Result => read(...given)
}

export type Reading<Read> = Read extends (...given: infer Given) => infer Result
  ? (context: AnyContext, ...given: Given) => Result
  : never
