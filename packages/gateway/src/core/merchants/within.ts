// Limits operations to the merchants of each call's context, so that no operation can forget its scope.
import type { Bound } from '../../platform/runtime/bind-all.ts'
import type { Context } from '../authority/context.ts'
import { scopedTo } from './store/scoped.ts'

export function bindWithin<
  Parts extends { readonly stores: object },
  Operations extends Record<string, (parts: Parts, context: never, ...given: never[]) => unknown>,
>(parts: Parts, operations: Operations): { readonly [Name in keyof Operations]: Bound<Operations[Name]> } {
  const within = ({ merchantId }: Context): Parts =>
    merchantId === undefined ? parts : { ...parts, stores: scopedTo(parts.stores, merchantId) }
  const bound = Object.entries(operations).map(([name, operation]) => [
    name,
    (context: Context, ...given: readonly unknown[]) =>
      operation(within(context), context as never, ...(given as never[])),
  ])
  // Safe, here and above: the names and other parameters are those of the operations.
  return Object.fromEntries(bound)
}
