import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as limits from './limits.ts'

test('a create body with every text at its maximum length fits in an envelope', () => {
  const long = (length: number) => '界'.repeat(length)
  const body = {
    order: {
      orderNo: 'x'.repeat(limits.maxOrderNoLength),
      orderDescription: long(limits.maxOrderDescriptionLength),
      shipping: { name: long(limits.maxShippingNameLength), address: long(limits.maxShippingAddressLength) },
      goods: Array.from({ length: limits.maxGoods }, () => ({
        referenceGoodsId: 'x'.repeat(limits.maxReferenceGoodsIdLength),
        goodsName: long(limits.maxGoodsNameLength),
        goodsDesc: long(limits.maxGoodsDescLength),
        goodsAmount: '1000000000000000.00',
        tax: '1000000000000000.00',
        goodsQuantity: limits.maxGoodsQuantity,
      })),
    },
    callbackUrl: 'x'.repeat(limits.maxUrlLength),
    redirectUrl: 'x'.repeat(limits.maxUrlLength),
  }
  const encodedBytes = Math.ceil((Buffer.byteLength(JSON.stringify(body)) + 28) / 3) * 4
  const otherFieldsBytes = 4096
  assert(encodedBytes + otherFieldsBytes < limits.maxEnvelopeBytes, `${encodedBytes} bytes`)
})

test('the largest amount of every currency fits in a signed 64-bit integer', () => {
  assert(limits.maxMinorUnits < 2n ** 63n)
  assert(limits.maxMajorUnits * 10n ** 3n <= limits.maxMinorUnits)
})

test('expiry times have a valid range, and a request’s window is not longer than the shortest order', () => {
  assert(limits.minExpiryMs < limits.maxExpiryMs)
  assert(limits.timestampWindowMs <= limits.minExpiryMs)
  assert(limits.minRsaBits < limits.maxRsaBits)
})
