// Warns if DNS does not know the host of a callbackUrl; the order is accepted, because the name may come later. One
// lookup per host and ten minutes, for accepted orders only, one at a time, and at most a third of a second.
import { BoundedMap } from '../../platform/runtime/bounded-map.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { publicOnly, targetOf, type UrlPolicy } from '../../platform/runtime/ssrf-guard.ts'
import type { Merchant } from './rules/merchant.ts'

export interface CallbackNamesParts {
  /** Undefined: names are not checked. */
  readonly lookup: ((hostname: string, policy: UrlPolicy) => Promise<unknown>) | undefined
  readonly urlPolicy: UrlPolicy
  readonly clock: Clock
}

const maxRemembered = 10_000
const rememberedForMs = { known: 600_000, missing: 60_000 } as const
const maxWaitMs = 300

export type IsNameMissing = (callbackUrl: string, merchant: Merchant) => boolean | Promise<boolean>

export function makeIsNameMissing({ lookup, urlPolicy, clock }: CallbackNamesParts): IsNameMissing {
  const remembered = new BoundedMap<string, { readonly isMissing: boolean; readonly untilMs: number }>(
    maxRemembered,
  )
  let isAsking = false
  return (callbackUrl, { isSelfRegistered }) => {
    const { hostname } = targetOf(new URL(callbackUrl))
    if (!lookup || !/[a-z]/i.test(hostname) || hostname.includes(':')) return false
    const name = isSelfRegistered ? `public ${hostname}` : hostname
    const known = remembered.get(name)
    if (known !== undefined && clock.now() < known.untilMs) return known.isMissing
    if (isAsking) return false
    isAsking = true
    const asked = lookup(hostname, isSelfRegistered ? publicOnly(urlPolicy) : urlPolicy)
      .then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'ENOTFOUND',
      )
      .then((isMissing) => {
        const forMs = isMissing ? rememberedForMs.missing : rememberedForMs.known
        remembered.set(name, { isMissing, untilMs: clock.now() + forMs })
        return isMissing
      })
      .finally(() => {
        isAsking = false
      })
    return within(maxWaitMs, asked)
  }
}

/** A slower lookup gives no warning now and is cached for the next order. */
function within(durationMs: number, asked: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs, false)
    void asked.then((isMissing) => {
      clearTimeout(timer)
      resolve(isMissing)
    })
  })
}
