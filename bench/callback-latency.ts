// How soon a callback leaves after its event when the one who takes the payment and the one who sends are two processes
// (ROLES=api and ROLES=worker over one database), on a machine that has nothing else to do: with the hints over NOTIFY,
// and without them. `node bench/callback-latency.ts [payments]`
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Tillgate } from '@tillgate/sdk'

const payments = Number(process.argv[2] ?? 40)
/** Not counted: until the code is compiled and the connections are open. */
const warmUp = 10
/** Between two payments, so that each one meets a worker that waits. */
const restMs = 150

for (const listenUrl of ['', 'off']) {
  const folder = await mkdtemp(join(tmpdir(), 'tillgate-bench-'))
  const arrivals: { event: string; ms: number }[] = []
  let paidAtMs = 0
  const receiver = createServer(async (request, response) => {
    const arrivedAtMs = performance.now()
    let text = ''
    for await (const chunk of request) text += chunk
    response.end('{"code":20000,"msg":""}')
    arrivals.push({ event: JSON.parse(text).eventName, ms: arrivedAtMs - paidAtMs })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  // Safe: it listens on TCP.
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const api = await start('api', { DATA_DIR: folder, DATABASE_LISTEN_URL: listenUrl })
  const worker = await start('worker', { DATA_DIR: folder, DATABASE_LISTEN_URL: listenUrl })
  const tillgate = Tillgate.fromFile(join(folder, 'sandbox-merchant.json'))
  for (let i = 0; i < warmUp + payments; i++) {
    const { paymentId } = await tillgate.orders.create({
      order: {
        orderNo: `latency-${i}`,
        orderAmount: '1',
        goods: [{ referenceGoodsId: 'x', goodsName: 'x', goodsAmount: '1' }],
      },
      paymentAmount: '1',
      currency: 'EUR',
      callbackUrl,
    })
    await pause(restMs)
    // Before the request, so that the whole of paying is in the figure: signing, opening, the commit.
    paidAtMs = performance.now()
    await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
    const enough = 2 * (i + 1)
    while (arrivals.length < enough) await pause(5)
  }
  for (const event of ['payment.order.confirming', 'payment.order.success']) {
    const times = arrivals
      .slice(2 * warmUp)
      .filter((arrival) => arrival.event === event)
      .map(({ ms }) => ms)
    times.sort((a, b) => a - b)
    const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? Number.NaN).toFixed(0)
    console.log(
      `${listenUrl === 'off' ? 'by looking' : 'with hints'}  ${event.padEnd(25)} from the request to pay: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`,
    )
  }
  for (const child of [worker, api]) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  receiver.close().closeAllConnections()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

async function start(role: string, environment: Record<string, string>): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'gateway-server.ts'), {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      ADMIN_PORT: '0',
      HOST: '127.0.0.1',
      ROLES: role,
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      ...environment,
    },
  })
  await once(child, 'message')
  return child
}
