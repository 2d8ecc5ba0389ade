// A gateway with a merchant whose orders a browser pays, and the ways in which an order comes to each of its states.

import assert from 'node:assert/strict'
import { actingAs } from './acting.ts'
import { TestClock } from './clock.ts'
import { startTestGateway, type TestGateway, type TestMerchant } from './gateway.ts'
import { createBody } from './order.ts'
import { giveBankAccount } from './payouts.ts'

export interface OpenOrder {
  readonly url: string
  readonly paymentId: string
}

export interface CheckoutShop {
  readonly gateway: TestGateway
  readonly clock: TestClock
  readonly merchant: TestMerchant
  /** A new order, its body bent as the test likes. */
  // biome-ignore lint/suspicious/noExplicitAny: a test bends whatever it likes
  order(bend?: (body: any) => void): Promise<OpenOrder>
  /** By the sandbox's own method; resolves when the order has come to the status. */
  pay(order: OpenOrder, outcome: 'success' | 'failed' | 'confirming'): Promise<void>
  /** For an order with captureMode `manual`: until it can be captured. */
  authorize(order: OpenOrder): Promise<void>
  cancel(order: OpenOrder): Promise<void>
  status(order: OpenOrder): Promise<string>
  /** Asks until it is so; the gateway works meanwhile. */
  waitFor(order: OpenOrder, status: string): Promise<void>
  addWallet(options?: { majorUnits?: bigint; name?: string }): Promise<{ login: string; pin: string }>
}

const pin = '246810'
let wallets = 0

export async function openCheckoutShop(
  options: { environment?: Record<string, string>; merchant?: { name?: string; accentColour?: string } } = {},
): Promise<CheckoutShop> {
  const clock = new TestClock()
  const gateway = await startTestGateway({
    clock,
    ...(options.environment && { environment: options.environment }),
  })
  const merchant = await gateway.addMerchant(options.merchant)
  await giveBankAccount(gateway.pool, merchant.merchantId)
  const { wallets: manageWallets } = actingAs(gateway.operations, 'test')

  const status = async ({ paymentId }: OpenOrder): Promise<string> =>
    (await merchant.call('service.trade.query', { paymentId })).data.paymentStatus

  const waitFor = async (order: OpenOrder, wanted: string): Promise<void> => {
    for (let tries = 0; tries < 1_000; tries++) if ((await status(order)) === wanted) return
    assert.fail(`the order did not become ${wanted}`)
  }

  return {
    gateway,
    clock,
    merchant,
    status,
    waitFor,
    async order(bend = () => {}) {
      const body = createBody({ now: clock.now() })
      bend(body)
      const { data, msg } = await merchant.call('service.trade.create', body)
      assert(data.checkoutUrl, msg)
      const { pathname } = new URL(data.checkoutUrl)
      return { url: gateway.url + pathname, paymentId: data.paymentId }
    },
    async pay(order, outcome) {
      const { code, msg } = await merchant.call('service.sandbox.pay', {
        paymentId: order.paymentId,
        outcome,
      })
      assert.equal(code, 20000, msg)
      await waitFor(order, outcome)
    },
    async authorize({ paymentId }) {
      const { code, msg } = await merchant.call('service.sandbox.pay', { paymentId, outcome: 'success' })
      assert.equal(code, 20000, msg)
      for (let tries = 0; tries < 1_000; tries++) {
        const { data } = await merchant.call('service.trade.query', { paymentId })
        if (data.authorization.expiresAt !== undefined) return
      }
      assert.fail('the order was not authorized')
    },
    async cancel({ paymentId }) {
      const { code, msg } = await merchant.call('service.trade.cancel', { paymentId })
      assert.equal(code, 20000, msg)
    },
    async addWallet({ majorUnits = 100n, name = 'Mira Consumer' } = {}) {
      const login = `consumer-${++wallets}@wallet.example`
      const { wallet } = await manageWallets.addWallet({ login, name, pin, reason: 'test' })
      if (majorUnits > 0n) {
        const topUp = { currency: 'USD', amountMinor: majorUnits * 100n, reason: 'test' }
        await manageWallets.topUp({ wallet: wallet.walletId, ...topUp })
      }
      return { login, pin }
    },
  }
}

/** A browser without scripts, as far as these tests need one: cookies, forms, and no following of redirects. */
export class Visitor {
  readonly cookies = new Map<string, string>()
  readonly #url: string
  #page = ''

  constructor({ url }: OpenOrder) {
    this.#url = url
  }

  /** The text of the page; what its forms need is remembered. */
  async look(path = ''): Promise<string> {
    const response = await this.get(path)
    this.#page = await response.text()
    return this.#page
  }

  async get(path = '', headers: Record<string, string> = {}): Promise<Response> {
    const response = await fetch(this.#url + path, {
      redirect: 'manual',
      headers: { cookie: this.#cookieHeader(), ...headers },
    })
    this.#keepCookies(response)
    return response
  }

  get token(): string {
    return /name="token" value="([^"]+)"/.exec(this.#page)?.[1] ?? ''
  }

  /** As the page's own form would send it, unless told otherwise. */
  async post(
    act: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ): Promise<Response> {
    const response = await fetch(`${this.#url}/${act}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: this.#cookieHeader(), ...headers },
      body: new URLSearchParams({ token: this.token, ...fields }),
    })
    this.#keepCookies(response)
    return response
  }

  #cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keepCookies(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const equals = pair.indexOf('=')
      if (/Max-Age=0/.test(cookie)) this.cookies.delete(pair.slice(0, equals))
      else this.cookies.set(pair.slice(0, equals), pair.slice(equals + 1))
    }
  }
}
