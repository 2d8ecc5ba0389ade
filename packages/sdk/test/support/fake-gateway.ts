// A small gateway in memory, for the conformance suite to find faults in: right in all that the interface says, but for
// what is planted.
import { createHash, type KeyObject, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Failure,
  failureAnswer,
  gatewayPath,
  httpStatusOf,
  isMethod,
  methods,
  openRequest,
  parseCallbackBody,
  parseCancelBody,
  parseCreateBody,
  parseQueryBody,
  parseRefundBody,
  parseRequestEnvelope,
  parseSandboxAdvanceBody,
  parseSandboxPayBody,
  sealCallback,
  successAnswer,
} from '@tillgate/protocol'
import { credentials, parsed } from './credentials.ts'

// biome-ignore lint/suspicious/noExplicitAny: deviations change whatever they like
type Loose = any

/** Each changes one thing on its way; what it returns takes the place of what it was given. */
export interface Planted {
  readonly path?: (path: string) => string
  readonly envelope?: (envelope: Loose) => Loose
  /** For what does not open: the body all the same. */
  readonly opened?: (envelope: Loose) => string | undefined
  readonly body?: (body: Loose, method: string) => Loose
  readonly answer?: (answer: { httpStatus: number; json: Loose }, method: string) => Loose
  readonly callback?: (callback: { eventName: string; result: Loose }) => Loose
  readonly sealed?: (envelope: Loose) => Loose
  readonly posting?: (posting: { url: string; contentType: string; verb: string }) => Loose
  readonly signingKey?: KeyObject
  readonly sendsTwice?: boolean
  readonly sendsOnce?: boolean
  readonly newIdOnRetry?: boolean
  readonly contentType?: string
}

interface Order {
  readonly paymentId: string
  readonly create: ReturnType<typeof parseCreateBody>
  readonly refuses: Array<() => Promise<void>>
  status: string
  transactionId?: string
  paidTime?: number
  msg: string
  refundFails: boolean
  refund?: { referRefundNo: string; status: string; msg: string }
}

const { merchantId } = credentials
const minute = 60_000

export async function startFakeGateway(planted: Planted = {}) {
  const orders = new Map<string, Order>()
  const server = createServer((request, response) => {
    void serve(request).then(({ httpStatus, json }) => {
      const page = request.method === 'GET'
      response
        .writeHead(httpStatus, {
          'content-type': planted.contentType ?? (page ? 'text/html' : 'application/json'),
        })
        .end(typeof json === 'string' ? json : JSON.stringify(json))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function serve(request: IncomingMessage): Promise<{ httpStatus: number; json: Loose }> {
    if (request.method === 'GET') return { httpStatus: 200, json: 'Pay' }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    let method = ''
    const change = (answer: { httpStatus: number; json: Loose }) => planted.answer?.(answer, method) ?? answer
    try {
      const text = Buffer.concat(chunks).toString('utf8')
      const given = text.startsWith('{') && planted.envelope ? planted.envelope(JSON.parse(text)) : text
      const envelope = parseRequestEnvelope(typeof given === 'string' ? given : JSON.stringify(given))
      method = envelope.method
      if (!isServed(planted.path?.(request.url ?? '') ?? request.url ?? '', method))
        throw new Failure('no_such_operation')
      const isOurs = envelope.merchantId === merchantId
      const keys = { aesKeys: [parsed.aesKey], publicKeys: [parsed.merchantPublicKey] }
      const body = (await openRequest(envelope, isOurs ? keys : undefined)) ?? planted.opened?.(envelope)
      if (body === undefined) throw new Failure('envelope_not_opened')
      const data = operate(method, changedBody(body, method))
      return change({ httpStatus: 200, json: successAnswer(data) })
    } catch (error) {
      const failure = error instanceof Failure ? error : new Failure('internal', { cause: error })
      return change({ httpStatus: httpStatusOf(failure.code), json: failureAnswer(failure, 'r') })
    }
  }

  function changedBody(text: string, method: string): string {
    if (!planted.body) return text
    try {
      return JSON.stringify(planted.body(JSON.parse(text), method))
    } catch {
      return text
    }
  }

  function operate(method: string, body: string): object {
    switch (method) {
      case 'service.trade.create':
        return create(body)
      case 'service.trade.query':
        return query(orderOf(parseQueryBody(body).number))
      case 'service.trade.cancel': {
        const order = orderOf(parseCancelBody(body).paymentId)
        order.status = 'cancelled'
        return { paymentId: order.paymentId, referOrderNo: order.create.order.orderNo, status: order.status }
      }
      case 'service.trade.callback':
        return { paymentId: orderOf(parseCallbackBody(body).paymentId).paymentId, queued: 0 }
      case 'service.trade.refund':
        return refund(body)
      case 'service.sandbox.pay': {
        const { paymentId, outcome = 'success' } = parseSandboxPayBody(body)
        pay(orderOf(paymentId), outcome)
        return { paymentId, status: 'confirming' }
      }
      case 'service.sandbox.advance':
        return advance(parseSandboxAdvanceBody(body))
      default:
        throw new Failure('no_such_operation')
    }
  }

  function create(body: string): object {
    const parsedBody = parseCreateBody(body)
    const lifeMs = parsedBody.paymentExpiryTimeMs - parsedBody.paymentTimeMs
    if (lifeMs < 5 * minute || lifeMs > 24 * 60 * minute) throw new Failure('times_out_of_range')
    const paymentId = idOf('P', parsedBody.order.orderNo)
    orders.set(paymentId, {
      paymentId,
      create: parsedBody,
      status: 'pending',
      msg: '',
      refundFails: false,
      refuses: [],
    })
    return {
      paymentId,
      referOrderNo: parsedBody.order.orderNo,
      channel: parsedBody.channel,
      checkoutUrl: `${url}/checkout/${paymentId}`,
      status: 'pending',
    }
  }

  function query({ paymentId, create: { order, currency, paymentTimeMs }, ...state }: Order): object {
    return {
      status: state.refund?.status ?? state.status,
      transactionId: state.transactionId,
      msg: state.refund?.msg ?? state.msg,
      merchantId,
      referOrderNo: state.refund?.referRefundNo ?? order.orderNo,
      ...(state.paidTime && { payAmount: 10, paidTime: state.paidTime }),
      currency,
      paymentTime: paymentTimeMs,
      paymentId,
    }
  }

  function pay(order: Order, outcome: string): void {
    const { create: made } = order
    order.transactionId = idOf('T', order.paymentId)
    order.refundFails = outcome === 'refund_fails'
    const isPaid = outcome !== 'failed'
    const result = (status: string) => ({
      merchantId,
      paymentId: order.paymentId,
      referOrderNo: made.order.orderNo,
      transactionId: order.transactionId,
      paymentAmount: 10,
      currency: made.currency,
      paymentTime: made.paymentTimeMs,
      status,
      msg: status === 'failed' ? 'Insufficient funds.' : '',
      ...(status !== 'confirming' && { completeTime: Date.now() }),
    })
    order.status = isPaid ? 'success' : 'failed'
    order.msg = isPaid ? '' : 'Insufficient funds.'
    if (isPaid) order.paidTime = Date.now()
    tell(order, 'payment.order.confirming', result('confirming'))
    tell(order, `payment.order.${order.status}`, result(order.status))
  }

  function refund(body: string): object {
    const asked = parseRefundBody(body)
    const order = orderOf(asked.paymentId)
    const isDone = !order.refundFails
    const status = isDone ? 'refund_success' : 'refund_failed'
    const msg = isDone ? '' : 'The wallet is closed.'
    const refundId = idOf('R', asked.referRefundNo)
    order.refund = { referRefundNo: asked.referRefundNo, status, msg }
    tell(order, `payment.refund.${isDone ? 'success' : 'failed'}`, {
      merchantId,
      refundId,
      paymentId: order.paymentId,
      referRefundNo: asked.referRefundNo,
      transactionId: idOf('T', refundId),
      refundAmount: 4,
      refundTime: Date.now(),
      completeTime: Date.now(),
      status,
      msg,
    })
    return {
      refundId,
      paymentId: order.paymentId,
      referRefundNo: asked.referRefundNo,
      refundAmount: 4,
      currency: order.create.currency,
      status: 'refunding',
    }
  }

  function advance({ paymentId, milliseconds }: { paymentId: string; milliseconds: number }): object {
    const order = orderOf(paymentId)
    for (const again of order.refuses.splice(0)) void again()
    const { create: made } = order
    if (order.status === 'pending' && milliseconds > 5 * minute) {
      order.status = 'timeout'
      tell(order, 'payment.order.timeout', {
        merchantId,
        paymentId,
        referOrderNo: made.order.orderNo,
        paymentAmount: 10,
        currency: made.currency,
        paymentTime: made.paymentTimeMs,
        completeTime: Date.now(),
        status: 'timeout',
        msg: '',
      })
    }
    return { paymentId, status: order.status }
  }

  function tell(order: Order, eventName: string, result: object): void {
    const { callbackUrl } = order.create
    const callback = planted.callback?.({ eventName, result: { ...result } }) ?? { eventName, result }
    if (!callbackUrl || !callback.eventName) return
    const id = randomUUID()
    const send = async (callbackId: string) => {
      const { privateKey } = { privateKey: planted.signingKey ?? parsed.gatewayPrivateKey }
      const sealed = await sealCallback(
        {
          id: callbackId,
          merchantId,
          eventName: callback.eventName,
          timestamp: Date.now(),
          body: JSON.stringify(callback.result),
        },
        { aesKey: parsed.aesKey, privateKey },
      )
      const posting = { url: callbackUrl, contentType: 'application/json', verb: 'POST' }
      const { url: to, contentType, verb } = planted.posting?.(posting) ?? posting
      const { status } = await fetch(to, {
        method: verb,
        headers: { 'content-type': contentType },
        body: JSON.stringify(planted.sealed?.(sealed) ?? sealed),
      }).catch(() => ({ status: 0 }))
      if (status !== 200 && !planted.sendsOnce)
        order.refuses.push(() => send(planted.newIdOnRetry ? randomUUID() : callbackId))
    }
    void send(id)
    if (planted.sendsTwice) void send(id)
  }

  function orderOf(paymentId: string): Order {
    const found = orders.get(paymentId)
    if (!found) throw new Failure('order_not_found')
    return found
  }
}

function isServed(path: string, method: string): boolean {
  if (path === gatewayPath) return true
  return isMethod(method) && path.replace(/^\/cgi/, '') === methods[method].path
}

function idOf(letter: string, text: string): string {
  return letter + createHash('sha256').update(text).digest('hex').slice(0, 26).toUpperCase()
}
