// Measures what the dearest texts of the largest allowed size cost before they are refused.
// Run: node bench/parts/hostile.ts
import { parseCreateBody, parseRequestEnvelope } from '../../packages/protocol/src/index.ts'

const size = 262_000
const fill = (piece: string) => piece.repeat(Math.floor(size / piece.length))
const good = '{"referenceGoodsId":1},'
const texts: Record<string, string> = {
  'nested lists': '['.repeat(size / 2) + ']'.repeat(size / 2),
  'many keys': `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
  'many equal keys': `{${fill('"a":1,')}"a":1}`,
  'many backslashes': `{"a":"${fill('\\\\')}"}`,
  'many escaped quotes': `{"a":"${fill('\\"')}"}`,
  'many odd numbers': `[${fill('1e9,')}1]`,
  'one long number': '9'.repeat(size),
  'many nulls': `{${Array.from({ length: 15_000 }, (_, i) => `"k${i}":null`).join(',')}}`,
  'many wrong goods': `{"order":{"orderNo":"A","orderAmount":1,"goods":[${fill(good)}{}]}}`,
  'one long text': `{"order":{"orderNo":"${'😀'.repeat(60_000)}"}}`,
  'one long amount': `{"order":{"orderNo":"A","orderAmount":"${'9'.repeat(200_000)}","goods":[{"referenceGoodsId":"x","goodsName":"X"}]},"channel":"WEB","paymentAmount":1,"currency":"USD","paymentTime":1760000000000,"paymentExpiryTime":1760000900000}`,
}

for (const [name, text] of Object.entries(texts)) {
  for (const parse of [parseCreateBody, parseRequestEnvelope]) {
    let micros = Number.POSITIVE_INFINITY
    let outcome = 'accepted'
    for (let i = 0; i < 20; i++) {
      const started = process.hrtime.bigint()
      try {
        parse(text)
      } catch (error) {
        outcome = String(error).slice(0, 60)
      }
      micros = Math.min(micros, Number(process.hrtime.bigint() - started) / 1000)
    }
    console.log(`${name.padEnd(20)} ${parse.name.padEnd(22)} ${micros.toFixed(0).padStart(7)} µs  ${outcome}`)
  }
}
