// A small shop on the SDK: cart, buy, result, refund. What the gateway says by callback decides; what the consumer
// brings back from the checkout is only shown; and where no callback comes, the shop asks.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import * as sdk from '@tillgate/sdk'
import { redirect, sendPage } from '../page.ts'
import { type CartLine, cartCookie, readCart, totalMinor } from './cart.ts'
import { currency } from './goods.ts'
import { isSettled, orderPage, shopPage, style, troublePage } from './pages.ts'

export interface ShopOrder {
  readonly orderNo: string
  paymentId?: string
  checkoutUrl?: string
  status: sdk.OrderStatus
  refundStatus?: sdk.RefundStatus
  /** The latest callback that told something new. */
  callback?: { readonly event: sdk.CallbackEvent; readonly receivedAtMs: number }
  /** Since when a page waits for a callback. */
  waitingSinceMs?: number
  /** No callback came, so the gateway was asked. */
  isAsked?: boolean
  hasCart?: boolean // what it was made of is still in the consumer's cart
}

/** Consumers reach the shop at `url`, the gateway reaches it at `callbackUrl`. */
type ShopParts = { tillgate: sdk.Tillgate; url: string; callbackUrl: string }
const askAfterMs = 10_000 // a callback comes within a second as a rule
const refundEnding = '-refund'
const orderNoOf = ({ referRefundNo }: sdk.RefundResult) => referRefundNo.slice(0, -refundEnding.length)

export function openShop({ tillgate, url, callbackUrl }: ShopParts): Server {
  // A real shop has a database here, and keeps more than the newest thousand.
  const orders = new Map<string, ShopOrder>()

  const callbacks = tillgate.callbacks.handler((event) => {
    if (event.kind === 'unknown') return
    const order = orderOf(event.kind === 'order' ? event.result.referOrderNo : orderNoOf(event.result))
    if (event.kind === 'order' ? sdk.isStale(order.status, event) : sdk.isStale(order.refundStatus, event))
      return
    const news =
      event.kind === 'order' ? { status: event.result.status } : { refundStatus: event.result.status }
    Object.assign(order, news, { callback: { event, receivedAtMs: Date.now() }, isAsked: false })
  })

  return createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      process.stderr.write(`${error.stack}\n`)
      const words = error instanceof sdk.TillgateError ? error.message : 'Something went wrong in the shop.'
      if (!response.headersSent) sendPage(response, 500, troublePage(words))
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    if (pathname === '/callbacks') return callbacks.node(request, response)
    const [, orderNo = '', refundPath = ''] = /^\/orders\/([\w-]{1,64})(\/refund)?$/.exec(pathname) ?? []
    const cart = readCart(request.headers.cookie)
    const form = request.method === 'POST' ? await readForm(request) : new URLSearchParams()
    switch (`${request.method} ${orderNo ? `/orders${refundPath}` : pathname}`) {
      case 'GET /':
        return sendPage(response, 200, shopPage(cart))
      case 'GET /style.css':
        return void response.setHeader('content-type', 'text/css; charset=utf-8').end(style)
      case 'POST /cart': {
        const change = { goodsId: form.get('goods'), by: form.get('by') === '-1' ? -1 : 1 }
        response.setHeader('set-cookie', cartCookie(readCart(request.headers.cookie, change)))
        return redirect(response, '/')
      }
      case 'POST /buy':
        return redirect(response, cart.length === 0 ? '/' : await buy(cart))
      case 'POST /orders/refund':
        await refund(orderNo)
        return redirect(response, `/orders/${orderNo}`)
      case 'GET /orders': {
        const order = await look(orderNo)
        const back = await tillgate.redirects.verify(searchParams, { paymentId: order?.paymentId ?? '' })
        if (order?.hasCart && order.status === 'success') response.setHeader('set-cookie', cartCookie([]))
        if (order) order.hasCart &&= order.status !== 'success'
        if (order) return sendPage(response, 200, orderPage(order, back?.status))
      }
    }
    sendPage(response, 404, troublePage('There is nothing here.'))
  }

  /** Makes the payment order and answers where the consumer pays it. */
  async function buy(cart: readonly CartLine[]): Promise<string> {
    const order = orderOf(`LC-${randomBytes(4).toString('hex').toUpperCase()}`)
    const total = sdk.toDecimalText(totalMinor(cart), currency)
    const { paymentId, checkoutUrl } = await tillgate.orders.create({
      order: {
        orderNo: order.orderNo,
        orderAmount: total,
        goods: cart.map(({ goods, quantity }) => ({
          referenceGoodsId: goods.id,
          goodsName: goods.name,
          goodsAmount: sdk.toDecimalText(goods.priceMinor, currency),
          goodsQuantity: quantity,
        })),
      },
      paymentAmount: total,
      currency,
      callbackUrl,
      redirectUrl: `${url}/orders/${order.orderNo}`,
    })
    Object.assign(order, { paymentId, checkoutUrl, hasCart: true })
    return checkoutUrl
  }

  /** All of it. A real shop first asks who wants the money; here it is whoever knows the order's number. */
  async function refund(orderNo: string): Promise<void> {
    const { paymentId, paymentAmount: refundAmount } = await tillgate.orders.query({ orderNo })
    const referRefundNo = `${orderNo}${refundEnding}`
    const { status } = await tillgate.refunds.create({ paymentId, referRefundNo, refundAmount })
    const order = Object.assign(orderOf(orderNo), { paymentId, waitingSinceMs: Date.now() })
    order.refundStatus ??= status
  }

  /** As the callbacks left it. Where none came, or after a restart, the gateway is asked. */
  async function look(orderNo: string): Promise<ShopOrder | undefined> {
    const order = orders.get(orderNo)
    if (order && isSettled(order)) return order
    if (order) order.waitingSinceMs ??= Date.now()
    if (Date.now() - (order?.waitingSinceMs ?? 0) < askAfterMs) return order
    try {
      const { paymentId, paymentStatus: status, refunds } = await tillgate.orders.query({ orderNo })
      const refund = refunds[0] && { refundStatus: refunds[0].status }
      return Object.assign(orderOf(orderNo), { paymentId, status, isAsked: true, ...refund })
    } catch (error) {
      if (error instanceof sdk.NotFoundError) return undefined
      throw error
    }
  }

  function orderOf(orderNo: string): ShopOrder {
    const order: ShopOrder = orders.get(orderNo) ?? { orderNo, status: 'pending' }
    orders.set(orderNo, order)
    if (orders.size > 1_000) orders.delete(orders.keys().next().value ?? '')
    return order
  }
}

/** Of the shop's own pages alone: a form on another site may not buy or refund. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) {
    text += chunk
    if (text.length > 4_096) throw new Error('the form is too large')
  }
  if ((request.headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') throw new Error('not our form')
  return new URLSearchParams(text)
}
