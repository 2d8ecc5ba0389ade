// Whether a merchant has webhook endpoints, remembered for a minute, so that orders without a callbackUrl cost no query.
import { BoundedMap } from '../../platform/runtime/bounded-map.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Endpoint } from './rules/endpoint.ts'

const rememberedForMs = 60_000
const maxRemembered = 10_000

export type HasEndpoints = (merchantId: string) => Promise<boolean>

export function makeHasEndpoints(parts: {
  readonly endpoints: { readonly listEndpoints: (merchantId: string) => Promise<readonly Endpoint[]> }
  readonly clock: Clock
}): HasEndpoints {
  const remembered = new BoundedMap<string, { readonly has: boolean; readonly untilMs: number }>(
    maxRemembered,
  )
  return async (merchantId) => {
    const nowMs = parts.clock.now()
    const known = remembered.get(merchantId)
    if (known !== undefined && nowMs < known.untilMs) return known.has
    const has = (await parts.endpoints.listEndpoints(merchantId)).length > 0
    remembered.set(merchantId, { has, untilMs: nowMs + rememberedForMs })
    return has
  }
}
