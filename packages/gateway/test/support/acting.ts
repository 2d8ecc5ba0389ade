// Operations with their context filled in, for tests in which one person does many things.

import type { operationsForPeople } from '../../src/app/operations/for-people.ts'
import type { Operations } from '../../src/app/operations.ts'
import { type Actor, reachingAll } from '../../src/core/authority/context.ts'

export type Acting<Of> = Of extends (context: never, ...given: infer Given) => infer Result
  ? (...given: Given) => Result
  : { readonly [Name in keyof Of]: Acting<Of[Name]> }

export function actingAs(
  operations: Partial<Operations>,
  by: string | Actor,
): Acting<ReturnType<typeof operationsForPeople>> {
  const context = reachingAll(by)
  const acting = (of: object): object =>
    new Proxy(of, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver)
        if (typeof value === 'function') return (...given: unknown[]) => value.call(target, context, ...given)
        return typeof value === 'object' && value !== null ? acting(value) : value
      },
    })
  // Safe: every operation of people takes the context first.
  return acting(operations) as Acting<ReturnType<typeof operationsForPeople>>
}
