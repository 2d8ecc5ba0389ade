// The operations by the `method` of an envelope, with their separate paths.

/** Serves every method by its `method` field. */
export const gatewayPath = '/api/v1/gateway'

/** Every path is also served with this prefix. */
export const pathPrefix = '/cgi'

export const tradeMethods = {
  'service.trade.create': { path: '/payment/api/v1/payment-order', meaning: 'Create a payment order.' },
  'service.trade.query': {
    path: '/payment/api/v1/payment-order/query',
    meaning: 'Query a payment order or a refund.',
  },
  'service.trade.cancel': {
    path: '/payment/api/v1/payment-order/cancel',
    meaning: 'Cancel a payment order that is still pending.',
  },
  'service.trade.refund': {
    path: '/payment/api/v1/payment-order/refund',
    meaning: 'Refund a paid order, fully or in part.',
  },
  'service.trade.callback': {
    path: '/payment/api/v1/payment-order/callback',
    meaning: 'Resend the order’s callbacks.',
  },
} as const satisfies Record<string, { readonly path: string; readonly meaning: string }>

/** Not part of the specification, and only at the gateway path. */
export const extensionMethods = {
  'service.order.list': { path: gatewayPath, meaning: 'List payment orders, newest first.' },
  'service.order.capture': { path: gatewayPath, meaning: 'Capture an authorized order, fully or in part.' },
  'service.order.release': {
    path: gatewayPath,
    meaning: 'Release the uncaptured part of an authorization.',
  },
  'service.order.scan': {
    path: gatewayPath,
    meaning: 'Charge the wallet whose payment code the consumer shows.',
  },
  'service.bill.get': {
    path: gatewayPath,
    meaning: 'Get the totals of a day and a link to its bill.',
  },
  'service.link.create': {
    path: gatewayPath,
    meaning: 'Create a payment link: a page with a QR code where consumers pay.',
  },
  'service.link.query': { path: gatewayPath, meaning: 'Get a payment link and its payments.' },
  'service.link.close': { path: gatewayPath, meaning: 'Close a payment link permanently.' },
} as const satisfies Record<string, { readonly path: string; readonly meaning: string }>

/** Only in the sandbox, and only at the gateway path. */
export const sandboxMethods = {
  'service.sandbox.pay': { path: gatewayPath, meaning: 'Pay an order as a test consumer would.' },
  'service.sandbox.advance': {
    path: gatewayPath,
    meaning: 'Move the gateway’s times of one order into the past, to test expiry and retries.',
  },
  'service.sandbox.listen': {
    path: gatewayPath,
    meaning: 'Wait for callbacks and receive them over this connection.',
  },
  'service.sandbox.acknowledge': {
    path: gatewayPath,
    meaning: 'Mark a callback received by listen as delivered.',
  },
  'service.sandbox.requests': {
    path: gatewayPath,
    meaning: 'List the merchant’s rejected and slow requests.',
  },
} as const satisfies Record<string, { readonly path: string; readonly meaning: string }>

export const methods = { ...tradeMethods, ...extensionMethods, ...sandboxMethods }

export type TradeMethod = keyof typeof tradeMethods
export type Method = keyof typeof methods

export function isMethod(name: string): name is Method {
  return Object.hasOwn(methods, name)
}
