// Limits stores to one merchant's rows. A statement that names another merchant finds nothing, and one that names
// none never runs.
import { Failure, merchantIdPattern } from '@tillgate/protocol'

/** The properties with which statements name a merchant. */
const names: ReadonlySet<string> = new Set(['merchantId', 'ownerId'])
/** No argument names its merchant at a greater depth. */
const maxDepth = 3

export function scopedTo<Stores extends object>(stores: Stores, merchantId: string): Stores {
  return new Proxy(stores, {
    get(target, name, receiver) {
      const store: unknown = Reflect.get(target, name, receiver)
      return typeof store === 'object' && store !== null
        ? scopedStore(store, { merchantId, of: String(name) })
        : () => refuse(`${String(name)} is about no merchant`)
    },
  })
}

function scopedStore(store: object, { merchantId, of }: { merchantId: string; of: string }): object {
  return new Proxy(store, {
    get(target, name, receiver) {
      const statement: unknown = Reflect.get(target, name, receiver)
      if (typeof statement !== 'function') return statement
      return (...given: readonly unknown[]) => {
        const named = given.flatMap((each, index) => namedIn(each, { isFirst: index === 0 }))
        if (named.length === 0) refuse(`${of}.${String(name)} names no merchant`)
        if (named.some((each) => each !== merchantId))
          throw new Failure('not_found', { message: 'The resource does not exist.' })
        return statement.apply(target, given)
      }
    },
  })
}

/** A text argument names the merchant only in first position, as in `findMerchant(merchantId)`. */
function namedIn(given: unknown, { isFirst, depth = 0 }: { isFirst: boolean; depth?: number }): string[] {
  if (typeof given === 'string') return isFirst && merchantIdPattern.test(given) ? [given] : []
  if (typeof given !== 'object' || given === null || Buffer.isBuffer(given) || depth === maxDepth) return []
  return Object.entries(given).flatMap(([name, value]) =>
    names.has(name) && typeof value === 'string'
      ? [value]
      : namedIn(value, { isFirst: false, depth: depth + 1 }),
  )
}

function refuse(what: string): never {
  throw new Error(`outside of a merchant's scope: ${what}`)
}
