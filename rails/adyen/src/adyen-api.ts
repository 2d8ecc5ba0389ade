// The calls to Adyen's Checkout API, with Adyen's own SDK for addresses, requests and signatures. Its HTTP client is
// replaced: it limits only the time without traffic, and the gateway waits no more than 10 seconds.
import { createRequire } from 'node:module'
import { ProviderUnavailable } from '@tillgate/rail-kit/provider'
import { asUnavailable, objectIn, Refused, request, twice } from '@tillgate/rail-kit/request'
import type { AdyenAmount } from './amounts.ts'

export interface PaymentLink {
  readonly id: string
  readonly url: string
  readonly status: 'active' | 'completed' | 'paid' | 'expired' | 'paymentPending'
  readonly amount: AdyenAmount
}

export interface WebhookItem {
  readonly pspReference: string
  readonly merchantAccountCode: string
  readonly merchantReference: string
  readonly amount: AdyenAmount
  readonly eventCode: string
  readonly success: string
  readonly reason?: string
  readonly additionalData?: Readonly<Record<string, string>>
}

export interface AdyenAccess {
  readonly apiKey: string
  /** Empty for the test platform. */
  readonly livePrefix: string
  /** Empty for Adyen's own URLs. */
  readonly apiUrl: string
}

interface CallOptions {
  readonly idempotencyKey?: string
  readonly method?: string
}

interface Sdk {
  readonly links: {
    getPaymentLink(id: string): Promise<PaymentLink>
    paymentLinks(request: object, options: CallOptions): Promise<PaymentLink>
    updatePaymentLink(id: string, request: { readonly status: 'expired' }): Promise<PaymentLink>
  }
  readonly modifications: {
    refundCapturedPayment(
      pspReference: string,
      request: object,
      options: CallOptions,
    ): Promise<{ readonly pspReference: string; readonly status: string }>
  }
}

type Constructor<Made, Given extends unknown[]> = new (...given: Given) => Made

const testUrl = 'https://checkout-test.adyen.com'
const isInProgress = '704'

// Only four files are imported: the whole SDK takes three times as long to load.
const load = createRequire(import.meta.url)
const sdkFolder = '@adyen/api-library/lib/src'

function openSdk({ apiKey, livePrefix, apiUrl }: AdyenAccess): Sdk {
  // Safe: these are the exports of the pinned version; the tests use each of them.
  const { default: Client } = load(`${sdkFolder}/client.js`) as {
    default: Constructor<object, [config: object, httpClient: object]>
  }
  const { PaymentLinksApi } = load(`${sdkFolder}/services/checkout/paymentLinksApi.js`) as {
    PaymentLinksApi: Constructor<Sdk['links'], [object]>
  }
  const { ModificationsApi } = load(`${sdkFolder}/services/checkout/modificationsApi.js`) as {
    ModificationsApi: Constructor<Sdk['modifications'], [object]>
  }
  const environment = livePrefix === '' ? 'TEST' : 'LIVE'
  const send = (endpoint: string, body: string, _config: unknown, _key: boolean, options: CallOptions) =>
    callAdyen(apiUrl === '' ? endpoint : endpoint.replace(testUrl, apiUrl), body, options, apiKey)
  const client = new Client({ environment, liveEndpointUrlPrefix: livePrefix, apiKey }, { request: send })
  return { links: new PaymentLinksApi(client), modifications: new ModificationsApi(client) }
}

interface HmacValidator {
  validateHMAC(item: WebhookItem, key: string): boolean
}

const { default: Validator } = load(`${sdkFolder}/utils/hmacValidator.js`) as {
  default: Constructor<HmacValidator, []>
}
const validator = new Validator()

/** The single item of a standard webhook if Adyen signed it with this key. The signature does not cover the reason. */
export function readSignedItem(body: string, hmacKey: string): WebhookItem | undefined {
  try {
    const { notificationItems } = JSON.parse(body) as {
      notificationItems: readonly { readonly NotificationRequestItem: WebhookItem }[]
    }
    const [first, second] = notificationItems
    if (!first || second) return undefined
    const item = first.NotificationRequestItem
    return validator.validateHMAC(item, hmacKey) ? item : undefined
  } catch {
    return undefined
  }
}

/** The Customer Area's address, which also serves reports and the Disputes API. */
export const customerAreaOf = ({ apiUrl, livePrefix }: AdyenAccess) =>
  apiUrl || `https://ca-${livePrefix === '' ? 'test' : 'live'}.adyen.com`

export class AdyenApi {
  readonly #sdk: Sdk
  readonly #access: AdyenAccess

  constructor(access: AdyenAccess) {
    this.#sdk = openSdk(access)
    this.#access = access
  }

  createLink(request: object, idempotencyKey: string): Promise<PaymentLink> {
    return this.#sdk.links.paymentLinks(request, { idempotencyKey })
  }

  async readLink(id: string): Promise<PaymentLink> {
    return this.#sdk.links.getPaymentLink(id).catch((error: unknown) => {
      throw asUnavailable(error)
    })
  }

  expireLink(id: string): Promise<PaymentLink> {
    return this.#sdk.links.updatePaymentLink(id, { status: 'expired' })
  }

  async refund(paymentPspReference: string, request: object, idempotencyKey: string): Promise<string> {
    const options = { idempotencyKey }
    const { modifications } = this.#sdk
    return (await modifications.refundCapturedPayment(paymentPspReference, request, options)).pspReference
  }

  /** Without the SDK, whose class of the Disputes API is deprecated. */
  async acceptDispute(merchantAccountCode: string, disputePspReference: string): Promise<void> {
    const address = `${customerAreaOf(this.#access)}/ca/services/DisputeService/v30/acceptDispute`
    const body = JSON.stringify({ merchantAccountCode, disputePspReference })
    await callAdyen(address, body, {}, this.#access.apiKey)
  }
}

/** Every call is safe to repeat: reads, the end of a link, an acceptance, and calls with an idempotency key. */
function callAdyen(
  address: string,
  body: string,
  { method = 'POST', idempotencyKey }: CallOptions,
  apiKey: string,
): Promise<string> {
  return twice(async () => {
    const { ok, status, headers, bytes } = await request('Adyen', address, {
      method,
      headers: {
        'x-api-key': apiKey,
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(method !== 'GET' && { body }),
    })
    const text = bytes.toString()
    const answer = objectIn(text)
    if (ok && answer) return text
    const { message, errorCode } = answer ?? {}
    const words = typeof message === 'string' ? message : 'no reason'
    const isTransient = headers.get('transient-error') === 'true' || errorCode === isInProgress
    if ([400, 404, 422].includes(status) && answer && !isTransient) throw new Refused(words)
    throw new ProviderUnavailable(`Adyen returned HTTP ${status}: ${words}`)
  })
}
