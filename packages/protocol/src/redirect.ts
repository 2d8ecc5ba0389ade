// The parameters of the consumer's return to redirectUrl, signed by the gateway. They are only for display; the
// callback and the query are authoritative.
import type { KeyObject } from 'node:crypto'
import { isText, isThirteenDigits } from './fields.ts'
import { merchantIdPattern } from './ids.ts'
import { maxOrderNoLength, maxPaymentIdLength, maxRedirectAgeMs } from './limits.ts'
import { signText, verifyText } from './signing.ts'
import { type OrderStatus, orderStatuses } from './statuses.ts'

export interface RedirectParameters {
  /** The order's merchant. */
  readonly merchantId: string
  /** The payment order’s number. */
  readonly paymentId: string
  /** The orderNo of the create request. */
  readonly referOrderNo: string
  /** The order’s status when the consumer left the checkout. */
  readonly status: OrderStatus
  /** When the consumer left the checkout, in milliseconds since 1970: 13 digits. */
  readonly timestamp: string
}

export const redirectParameterNames = [
  'merchantId',
  'paymentId',
  'referOrderNo',
  'status',
  'timestamp',
  'sign',
] as const

/** Sorted by name, like envelopes. Values are those before URL encoding. */
export function redirectStringToSign({
  merchantId,
  paymentId,
  referOrderNo,
  status,
  timestamp,
}: RedirectParameters): string {
  return `merchantId=${merchantId}&paymentId=${paymentId}&referOrderNo=${referOrderNo}&status=${status}&timestamp=${timestamp}`
}

export async function signRedirect(
  parameters: RedirectParameters,
  privateKey: KeyObject,
): Promise<RedirectParameters & { readonly sign: string }> {
  return { ...parameters, sign: await signText(redirectStringToSign(parameters), privateKey) }
}

export interface RedirectExpectation {
  readonly publicKeys: readonly KeyObject[]
  /** One gateway signs for many merchants, and each can obtain a signature for an order of its own. */
  readonly merchantId: string
  readonly nowMs: number
  /** The payment of the page; any payment of the merchant by default. */
  readonly paymentId?: string | undefined
}

/**
 * The parameters, or undefined if they are not the gateway's, are for another merchant or payment, or were signed more
 * than ten minutes ago. Pass each decoded.
 */
export async function verifyRedirect(
  given: Readonly<Partial<Record<(typeof redirectParameterNames)[number], unknown>>>,
  expected: RedirectExpectation,
): Promise<RedirectParameters | undefined> {
  const { merchantId, paymentId, referOrderNo, status, timestamp, sign } = given
  // Only referOrderNo is free text. All other parameters have a fixed form, so the signed string is unambiguous.
  if (typeof merchantId !== 'string' || !merchantIdPattern.test(merchantId)) return undefined
  if (typeof paymentId !== 'string' || !/^[0-9A-Za-z]+$/.test(paymentId)) return undefined
  if (paymentId.length > maxPaymentIdLength || !isText(referOrderNo, { min: 1, max: maxOrderNoLength }))
    return undefined
  if (typeof status !== 'string' || !isOrderStatus(status)) return undefined
  if (typeof timestamp !== 'string' || !isThirteenDigits(timestamp) || typeof sign !== 'string')
    return undefined
  if (merchantId !== expected.merchantId || paymentId !== (expected.paymentId ?? paymentId)) return undefined
  if (Math.abs(expected.nowMs - Number(timestamp)) > maxRedirectAgeMs) return undefined
  const parameters = { merchantId, paymentId, referOrderNo, status, timestamp }
  const signed = redirectStringToSign(parameters)
  for (const publicKey of expected.publicKeys) {
    if (await verifyText(signed, sign, publicKey)) return parameters
  }
  return undefined
}

function isOrderStatus(status: string): status is OrderStatus {
  return Object.hasOwn(orderStatuses, status)
}
