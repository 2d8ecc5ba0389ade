// Measures RSA-2048 signing and verifying, on the event loop and on the thread pool, alone and beside a server
// that is also busy. Run: node bench/parts/signing.ts
import { createSign, generateKeyPairSync, sign, verify } from 'node:crypto'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const data = Buffer.alloc(1500, 97)
const signature = createSign('sha256').update(data).sign(privateKey)

const verifySync = () => Promise.resolve(verify('sha256', data, publicKey, signature))
const verifyAsync = () =>
  new Promise((resolve) => verify('sha256', data, publicKey, signature, (_, is) => resolve(is)))
const signSync = () => Promise.resolve(sign('sha256', data, privateKey))
const signAsync = () =>
  new Promise((resolve) => sign('sha256', data, privateKey, (_, bytes) => resolve(bytes)))

/** Stands for the rest of a request: parsing, validating, writing the answer. */
function otherWork(micros: number): void {
  const end = process.hrtime.bigint() + BigInt(micros * 1000)
  while (process.hrtime.bigint() < end);
}

async function measure(
  title: string,
  task: () => Promise<unknown>,
  options: { busyMicros: number; seconds: number },
) {
  for (let i = 0; i < 20; i++) await task()
  let count = 0
  const end = performance.now() + options.seconds * 1000
  const started = performance.now()
  const lane = async () => {
    while (performance.now() < end) {
      await task()
      if (options.busyMicros > 0) otherWork(options.busyMicros)
      count++
    }
  }
  await Promise.all(Array.from({ length: 32 }, lane))
  const perSecond = count / ((performance.now() - started) / 1000)
  console.log(`${title.padEnd(44)} ${perSecond.toFixed(0).padStart(6)}/s`)
}

for (const busyMicros of [0, 100, 300]) {
  console.log(`\nwith ${busyMicros} µs of other work a request`)
  await measure('verify, on the event loop', verifySync, { busyMicros, seconds: 2 })
  await measure('verify, thread pool', verifyAsync, { busyMicros, seconds: 2 })
  await measure('sign, on the event loop', signSync, { busyMicros, seconds: 2 })
  await measure('sign, thread pool', signAsync, { busyMicros, seconds: 2 })
}

console.log('\nlatency of one verification while callbacks are being signed')
for (const signing of [0, 1, 2, 4, 8]) {
  let isOver = false
  const lanes = Array.from({ length: signing }, async () => {
    while (!isOver) await signAsync()
  })
  const micros: number[] = []
  for (let i = 0; i < 400; i++) {
    const started = process.hrtime.bigint()
    await verifyAsync()
    micros.push(Number(process.hrtime.bigint() - started) / 1000)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  isOver = true
  await Promise.all(lanes)
  micros.sort((a, b) => a - b)
  console.log(
    `${signing} at a time: median ${micros[200]?.toFixed(0)} µs, 99 % ${micros[396]?.toFixed(0)} µs`,
  )
}
