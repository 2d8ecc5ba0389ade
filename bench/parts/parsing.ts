// Measures the strict JSON reader against JSON.parse, and the whole parsing of create bodies.
// Run: node bench/parts/parsing.ts

import { Compile } from 'typebox/schema'
import { parseCreateBody } from '../../packages/protocol/src/index.ts'
import { readJson } from '../../packages/protocol/src/json/json.ts'
import { createBodySchema } from '../../packages/protocol/src/messages/create-body.ts'

function createBody(goods: number): string {
  return JSON.stringify({
    order: {
      orderNo: 'A-2026-000001',
      orderAmount: goods * 25,
      totalTax: goods * 2.5,
      shipping: {
        shipType: 'SHIPPING',
        amount: 4.9,
        name: 'Zoë Müller',
        address: '1 High Street, Springfield',
      },
      orderDescription: 'Two shirts and a pair of shoes',
      goods: Array.from({ length: goods }, (_, i) => ({
        referenceGoodsId: `sku-${i}`,
        goodsName: `Shirt number ${i}, blue, size M`,
        goodsDesc: 'Cotton, wash at 30 degrees',
        goodsAmount: 12.5,
        tax: '1.25',
        goodsQuantity: 2,
      })),
    },
    channel: 'WEB',
    paymentAmount: '30.00',
    currency: 'USD',
    paymentTime: 1760000000000,
    paymentExpiryTime: '1760000900000',
    callbackUrl: 'https://shop.example/callbacks',
    redirectUrl: 'https://shop.example/thanks',
  })
}

function measure(title: string, task: () => unknown): void {
  for (let i = 0; i < 3000; i++) task()
  const rounds: number[] = []
  for (let round = 0; round < 15; round++) {
    const started = process.hrtime.bigint()
    for (let i = 0; i < 400; i++) task()
    rounds.push(Number(process.hrtime.bigint() - started) / 400 / 1000)
  }
  rounds.sort((a, b) => a - b)
  const [best, median] = [rounds[0], rounds[7]].map((micros) => micros?.toFixed(1).padStart(7))
  console.log(`${title.padEnd(40)} best ${best} µs, median ${median} µs`)
}

const compiled = Compile(createBodySchema)
for (const goods of [1, 10, 100]) {
  const body = createBody(goods)
  const value = readJson(body)
  console.log(`\na create body of ${goods} goods, ${Buffer.byteLength(body)} bytes`)
  measure('JSON.parse', () => JSON.parse(body))
  measure('strict reader', () => readJson(body))
  measure('schema check', () => compiled.Check(value))
  measure('parseCreateBody, all of it', () => parseCreateBody(body))
}
