// Measures how long opening takes, by what is wrong with the envelope: failures should not differ.
// Run: node bench/parts/opening.ts
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import {
  makeAesKey,
  type OpeningKeys,
  openRequest,
  parseRequestEnvelope,
  type RequestEnvelope,
  sealRequest,
} from '../../packages/protocol/src/index.ts'

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const aesKey = makeAesKey(randomBytes(32))
const body = JSON.stringify({ text: 'x'.repeat(1500) })
const message = { merchantId: '1'.repeat(18), method: 'service.trade.create', timestamp: Date.now(), body }
const envelope = parseRequestEnvelope(
  JSON.stringify(await sealRequest(message, { aesKey, privateKey: pair.privateKey })),
)
const otherSign = (await sealRequest(message, { aesKey, privateKey: other.privateKey })).sign
const keys = { aesKeys: [aesKey], publicKeys: [pair.publicKey] }
const wrongAes = { ...keys, aesKeys: [makeAesKey(randomBytes(32))] }

const cases: [string, Partial<RequestEnvelope>, OpeningKeys | undefined][] = [
  ['opens', {}, keys],
  ['unknown merchant', {}, undefined],
  ['wrong signature', { sign: otherSign }, keys],
  ['signature of another length', { sign: 'QUJD' }, keys],
  ['wrong AES key', {}, wrongAes],
  ['body not canonical', { body: `${envelope.body.slice(0, -4)}QR==` }, keys],
]

// Interleaved, so that whatever else the machine does falls on all of them alike.
const times = new Map<string, number[]>(cases.map(([name]) => [name, []]))
for (let round = 0; round < 3000; round++) {
  for (const [name, changed, opening] of cases) {
    const started = process.hrtime.bigint()
    await openRequest({ ...envelope, ...changed }, opening)
    times.get(name)?.push(Number(process.hrtime.bigint() - started) / 1000)
  }
}
for (const [name, micros] of times) {
  micros.sort((a, b) => a - b)
  const at = (share: number) => micros[Math.floor(micros.length * share)]?.toFixed(0).padStart(5)
  console.log(`${name.padEnd(30)} median ${at(0.5)} µs, 10 % ${at(0.1)} µs, 90 % ${at(0.9)} µs`)
}
