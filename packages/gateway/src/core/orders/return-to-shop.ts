// Builds the consumer's return URL: redirectUrl, or cancelUrl while the order is pending, with signed status
// parameters. For display only; callback and query are authoritative.
import { redirectParameterNames, signRedirect } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { PlatformKeys } from '../keys/platform-keys.ts'
import type { Order } from './rules/order.ts'

export type ReturnToShop = (order: Order) => Promise<string | undefined>

export function returnUrlOf({ status, redirectUrl, cancelUrl }: Order): string | undefined {
  if (status === 'pending') return cancelUrl ?? redirectUrl
  const isOpenOrPaid = status === 'confirming' || status === 'success'
  return isOpenOrPaid ? redirectUrl : (redirectUrl ?? cancelUrl)
}

export function makeReturnToShop(parts: {
  readonly platformKeys: Pick<PlatformKeys, 'signing'>
  readonly clock: Clock
}): ReturnToShop {
  return async (order) => {
    const returnUrl = returnUrlOf(order)
    if (returnUrl === undefined) return undefined
    const { merchantId, paymentId, orderNo: referOrderNo, status } = order
    const nowMs = parts.clock.now()
    const { privateKey } = await parts.platformKeys.signing(nowMs)
    const signed = await signRedirect(
      { merchantId, paymentId, referOrderNo, status, timestamp: String(nowMs) },
      privateKey,
    )
    const url = new URL(returnUrl)
    // Replaces the shop's parameters of the same names, which would contradict ours.
    for (const name of redirectParameterNames) url.searchParams.set(name, signed[name])
    return url.href
  }
}
