// The parameters with which the consumer comes back to redirectUrl, signed by the gateway. They are for display
// alone: the callback and the query are what counts.
import type { KeyObject } from 'node:crypto'
import { isText, isThirteenDigits } from './fields.ts'
import { maxOrderNoLength, maxPaymentIdLength } from './limits.ts'
import { signText, verifyText } from './signing.ts'
import { type OrderStatus, orderStatuses } from './statuses.ts'

export interface RedirectParameters {
  readonly paymentId: string
  readonly referOrderNo: string
  readonly status: OrderStatus
  /** 13 digits. */
  readonly timestamp: string
}

export const redirectParameterNames = ['paymentId', 'referOrderNo', 'status', 'timestamp', 'sign'] as const

/** Sorted by name, as envelopes are. Values are the plain ones, before they are escaped for the address. */
export function redirectStringToSign({
  paymentId,
  referOrderNo,
  status,
  timestamp,
}: RedirectParameters): string {
  return `paymentId=${paymentId}&referOrderNo=${referOrderNo}&status=${status}&timestamp=${timestamp}`
}

export async function signRedirect(
  parameters: RedirectParameters,
  privateKey: KeyObject,
): Promise<RedirectParameters & { readonly sign: string }> {
  return { ...parameters, sign: await signText(redirectStringToSign(parameters), privateKey) }
}

/** The parameters, or undefined when they are not the gateway's. Give each as decoded from the address. */
export async function verifyRedirect(
  given: Readonly<Partial<Record<(typeof redirectParameterNames)[number], unknown>>>,
  publicKeys: readonly KeyObject[],
): Promise<RedirectParameters | undefined> {
  const { paymentId, referOrderNo, status, timestamp, sign } = given
  // Only referOrderNo is free text; because all the others are of a closed form, the signed string has one reading.
  if (typeof paymentId !== 'string' || !/^[0-9A-Za-z]+$/.test(paymentId)) return undefined
  if (paymentId.length > maxPaymentIdLength || !isText(referOrderNo, { min: 1, max: maxOrderNoLength }))
    return undefined
  if (typeof status !== 'string' || !isOrderStatus(status)) return undefined
  if (typeof timestamp !== 'string' || !isThirteenDigits(timestamp) || typeof sign !== 'string')
    return undefined
  const parameters = { paymentId, referOrderNo, status, timestamp }
  const signed = redirectStringToSign(parameters)
  for (const publicKey of publicKeys) {
    if (await verifyText(signed, sign, publicKey)) return parameters
  }
  return undefined
}

function isOrderStatus(status: string): status is OrderStatus {
  return Object.hasOwn(orderStatuses, status)
}
