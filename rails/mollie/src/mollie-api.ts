// Requests to Mollie's API (v2), without the SDK, which has no timeout and trusts only the certificates that it was
// packaged with.
import { ProviderUnavailable } from '@tillgate/rail-kit/provider'
import { asUnavailable, objectIn, Refused, request, twice } from '@tillgate/rail-kit/request'

export interface MollieAmount {
  readonly currency: string
  readonly value: string
}

export interface MolliePayment {
  readonly id: string
  readonly status: 'open' | 'pending' | 'authorized' | 'paid' | 'canceled' | 'expired' | 'failed'
  readonly amount: MollieAmount
  readonly createdAt: string
  readonly isCancelable?: boolean | null
  readonly metadata?: unknown
  readonly statusReason?: { readonly message?: string } | null
  readonly _links: { readonly checkout?: { readonly href: string } | null }
}

export interface MollieRefund {
  readonly id: string
  readonly status: 'queued' | 'pending' | 'processing' | 'refunded' | 'failed' | 'canceled'
  readonly metadata?: unknown
}

export interface MollieChargeback {
  readonly id: string
  readonly amount: MollieAmount
  /** Only for SEPA Direct Debit. */
  readonly reason?: { readonly code: string } | null
  readonly reversedAt?: string | null
}

export interface MollieCall {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly idempotencyKey?: string
}

export class MollieApi {
  readonly #apiUrl: string
  readonly #apiKey: string

  constructor(apiUrl: string, apiKey: string) {
    this.#apiUrl = apiUrl
    this.#apiKey = apiKey
  }

  /** Every call is safe to repeat: reads, a cancellation, and calls with an idempotency key. */
  call<Answer>(call: MollieCall): Promise<Answer> {
    return twice(() => this.#once<Answer>(call))
  }

  read<Answer>(path: string): Promise<Answer> {
    return this.call<Answer>({ method: 'GET', path }).catch((error: unknown) => {
      throw asUnavailable(error)
    })
  }

  /** Newest first, until one is found or there are no more. */
  async find<Item>(
    path: string,
    list: string,
    isIt: (item: Item) => boolean | 'stop',
  ): Promise<Item | undefined> {
    let next: string | undefined = path
    while (next !== undefined) {
      const page: Page<Item> = await this.read<Page<Item>>(next)
      for (const item of page._embedded?.[list] ?? []) {
        const verdict = isIt(item)
        if (verdict === 'stop') return undefined
        if (verdict) return item
      }
      const { href } = page._links?.next ?? {}
      next = href === undefined ? undefined : pathOf(href)
    }
    return undefined
  }

  async #once<Answer>({ method, path, body, idempotencyKey }: MollieCall): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.#apiKey}`,
      accept: 'application/hal+json',
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    }
    const url = new URL(path, this.#apiUrl)
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const { ok, status, bytes } = await request('Mollie', url, init)
    const answer = objectIn(bytes.toString())
    if (!answer) throw new ProviderUnavailable('Mollie did not return JSON')
    const { detail, resource, _links } = answer as { detail?: string; resource?: string; _links?: object }
    // Lists contain links instead of a resource.
    if (ok && (resource !== undefined || _links !== undefined)) return answer as Answer
    if ([400, 404, 410, 422].includes(status)) throw new Refused(detail ?? `Mollie returned HTTP ${status}.`)
    throw new ProviderUnavailable(`Mollie returned HTTP ${status}: ${detail ?? 'no reason'}`)
  }
}

export interface Page<Item> {
  readonly _embedded?: Readonly<Record<string, readonly Item[]>>
  readonly _links?: { readonly next?: { readonly href: string } | null }
}

function pathOf(href: string): string {
  const { pathname, search } = new URL(href)
  return pathname + search
}
