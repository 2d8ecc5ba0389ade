// Limits the callback hosts of a merchant, because frequent changes indicate misuse: to the operator's list, or to a
// number of different hosts a day.
import { Failure } from '@tillgate/protocol'
import { BoundedMap } from '../../platform/runtime/bounded-map.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { hostOf } from '../../platform/runtime/ssrf-guard.ts'
import type { Merchant } from './rules/merchant.ts'
import type { MerchantStore } from './store/merchants.ts'

const dayMs = 24 * 60 * 60 * 1000
/** How long a host is not recorded again. */
const rememberedForMs = 60_000
const maxRemembered = 10_000

export interface CallbackHostsParts {
  readonly merchants: Pick<MerchantStore, 'useCallbackHost'>
  readonly maxHostsPerDay: number
  readonly clock: Clock
}

export class CallbackHosts {
  readonly #notedAtMs = new BoundedMap<string, number>(maxRemembered)
  readonly #parts: CallbackHostsParts

  constructor(parts: CallbackHostsParts) {
    this.#parts = parts
  }

  /** Returns why the callback host is not allowed; undefined if it is. */
  async refusalOf(
    { callbackUrl }: { readonly callbackUrl: string | undefined },
    { merchantId, callbackHosts: allowed }: Merchant,
  ): Promise<Failure | undefined> {
    if (callbackUrl === undefined) return undefined
    const host = hostOf(callbackUrl)
    if (allowed) return allowed.includes(host) ? undefined : notOnList(host)
    const { maxHostsPerDay, clock } = this.#parts
    const nowMs = clock.now()
    if (maxHostsPerDay === 0 || this.#isRemembered(merchantId, host, nowMs)) return undefined
    const noted = await this.#parts.merchants.useCallbackHost({
      merchantId,
      host,
      nowMs,
      sinceMs: nowMs - dayMs,
      maxHosts: maxHostsPerDay,
    })
    if (!noted) return tooManyHosts(host, maxHostsPerDay)
    this.#notedAtMs.set(`${merchantId} ${host}`, nowMs)
    return undefined
  }

  #isRemembered(merchantId: string, host: string, nowMs: number): boolean {
    const notedAtMs = this.#notedAtMs.get(`${merchantId} ${host}`)
    return notedAtMs !== undefined && Math.abs(nowMs - notedAtMs) < rememberedForMs
  }
}

function tooManyHosts(host: string, maxHosts: number): Failure {
  return new Failure('callback_address_changed_too_often', {
    field: 'callbackUrl',
    message: `callbackUrl has the new host ${host}, but ${maxHosts} different hosts (counting each port) were already used in the last 24 hours. Use one of these hosts, or ask the operator to set your list of callback hosts.`,
  })
}

function notOnList(host: string): Failure {
  return new Failure('url_not_allowed', {
    field: 'callbackUrl',
    message: `callbackUrl is not allowed: ${host} is not on the merchant's list of callback hosts.`,
  })
}
