import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidPattern } from '@tillgate/protocol'
import { timeOfCallbackId } from '../../../platform/runtime/time-ordered-ids.ts'
import type { Callback } from './callback.ts'
import { idAtEndpoint, type ListeningEndpoint, toEndpoints, toOwnAddress } from './endpoint.ts'

const own = '019a8c5e-1c00-7abc-8def-0123456789ab'
const callback: Callback = {
  merchantId: 'm',
  callbackId: own,
  paymentId: 'P1',
  refundId: undefined,
  eventName: 'payment.order.success',
  callbackUrl: 'https://shop.example/cb',
  body: '{}',
  createdAtMs: 1,
}

function endpoint(endpointId: string, changes: Partial<ListeningEndpoint> = {}): ListeningEndpoint {
  return {
    merchantId: 'm',
    endpointId: `019a8c5e-0000-7000-8000-00000000000${endpointId}`,
    url: `https://${endpointId}.example/`,
    host: `${endpointId}.example`,
    events: undefined,
    ...changes,
  }
}

test('each endpoint that selected the event gets its own callback, and other merchants’ endpoints do not', () => {
  const results = toEndpoints(
    [callback, { ...callback, merchantId: 'n', callbackId: own.replace('0', '1') }],
    [
      endpoint('1'),
      endpoint('2', { events: ['payment.order.success'] }),
      endpoint('3', { events: ['payment.order.timeout'] }),
      endpoint('4', { merchantId: 'n' }),
    ],
  )
  assert.deepEqual(
    results.map(({ merchantId, host }) => `${merchantId} ${host}`),
    ['m 1.example', 'm 2.example', 'n 4.example'],
  )
  assert.equal(new Set([own, ...results.map(({ callbackId }) => callbackId)]).size, 4)
})

test('the id at an endpoint has the same time and is always the same', () => {
  const { endpointId } = endpoint('1')
  const id = idAtEndpoint(own, endpointId)
  assert.match(id, uuidPattern)
  assert.equal(id, idAtEndpoint(own, endpointId))
  assert.equal(timeOfCallbackId(id), timeOfCallbackId(own))
})

test('the merchant’s own actions are not reported to the merchant', () => {
  const known = { ...callback, isAnswered: true }
  assert.equal(toOwnAddress(known), undefined)
  assert.deepEqual(toEndpoints([known], [endpoint('1')]), [])
  assert.equal(toOwnAddress({ ...callback, callbackUrl: undefined }), undefined)
  assert.equal(toOwnAddress(callback)?.host, 'shop.example')
})
