// The description of the merchant API against the protocol: every method is there, what the vectors send fits it, and every
// reference leads somewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compile } from 'typebox/schema'
import { extensionMethods, tradeMethods } from '../packages/protocol/src/methods.ts'
import { exampleOf, liveMethods, makeMerchantOpenApi } from '../scripts/documentation/merchant-openapi.ts'
import { operations } from '../scripts/documentation/operations.ts'

const described = makeMerchantOpenApi()
const schemas = described.components.schemas as Record<string, object>

test('every method of a live gateway is described', () => {
  assert.deepEqual(
    [...liveMethods].sort(),
    [...Object.keys(tradeMethods), ...Object.keys(extensionMethods)].sort(),
  )
  const text = JSON.stringify(described.paths)
  for (const method of liveMethods) assert.ok(text.includes(`"${method}"`), method)
})

test('every reference leads to a schema, and every schema is one of JSON alone', () => {
  const text = JSON.stringify(described)
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
    assert.ok(Object.hasOwn(schemas, name), name)
  assert.ok(!text.includes('"typeName"') && !text.includes('"expected"'))
})

test('what the test vectors send, and what the gateway answers, fits the description', () => {
  for (const method of liveMethods) {
    const name = method
      .split('.')
      .slice(1)
      .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
      .join('')
    const { body, envelope } = exampleOf(method)
    const data = operations[method].exampleAnswer
    for (const [schema, value] of [
      [`${name}Body`, body],
      ['RequestEnvelope', envelope],
      [`${name}Answer`, { code: 20000, msg: 'SUCCESS', data }],
    ] as const) {
      const checked = Compile(schemas[schema] ?? {})
      assert.ok(checked.Check(value), `${schema}: ${JSON.stringify(checked.Errors(value)[1][0])}`)
    }
  }
})

test('a body that the gateway refuses for its length does not fit either', () => {
  const { body } = exampleOf('service.trade.refund')
  const checked = Compile(schemas['TradeRefundBody'] ?? {})
  assert.ok(!checked.Check({ ...body, referRefundNo: 'x'.repeat(65) }))
  assert.ok(checked.Check({ ...body, referRefundNo: 'x'.repeat(64) }))
})
