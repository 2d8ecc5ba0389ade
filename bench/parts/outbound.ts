// What the guard costs: deliveries to one healthy receiver, 64 in flight, through the sender and through a bare
// undici Pool.request, in turns within one run. `node bench/parts/outbound.ts`
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { outboundLimits } from '../../packages/gateway/src/platform/outbound/limits.ts'
import {
  makeOutbound,
  type OutboundPolicy,
  systemParts,
} from '../../packages/gateway/src/platform/outbound/outbound.ts'

const inFlight = 64
// Short and many: what else runs on the machine then falls on both alike.
const roundMs = 250
const rounds = 60
const body = Buffer.alloc(2_048, 'x')

type Send = () => Promise<void>

interface Figures {
  sent: number
  wallMs: number
  cpuMs: number
}

if (isMainThread) await main()
else await receive()

async function main(): Promise<void> {
  const receiver = new Worker(new URL(import.meta.url))
  const [port] = await once(receiver, 'message')
  const origin = `http://127.0.0.1:${port}`

  const policy: OutboundPolicy = { mode: 'sandbox', allowedTargets: [], ...outboundLimits }
  const outbound = makeOutbound(policy, systemParts())
  const guarded: Send = async () => {
    const delivery = await outbound.post({ url: `${origin}/callbacks`, body })
    if (delivery.kind !== 'answered' || delivery.httpStatus !== 200) throw new Error(JSON.stringify(delivery))
  }

  const pool = new Pool(origin, { connections: inFlight })
  const headers = { 'content-type': 'application/json', 'user-agent': 'bare' }
  const bare: Send = async () => {
    const answer = await pool.request({ method: 'POST', path: '/callbacks', headers, body })
    await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`)
  }

  for (const send of [bare, guarded]) await measure(send, 2_000)
  const bareTotal = { sent: 0, wallMs: 0, cpuMs: 0 }
  const guardedTotal = { sent: 0, wallMs: 0, cpuMs: 0 }
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const isBareFirst = round % 2 === 0
    const first = await measure(isBareFirst ? bare : guarded, roundMs)
    const second = await measure(isBareFirst ? guarded : bare, roundMs)
    const [bareRound, guardedRound] = isBareFirst ? [first, second] : [second, first]
    add(bareTotal, bareRound)
    add(guardedTotal, guardedRound)
    ratios.push(rate(guardedRound) / rate(bareRound))
  }
  process.stdout.write(
    `bare Pool.request: ${rate(bareTotal).toFixed(0)}/s, ${cpuMicroseconds(bareTotal).toFixed(1)} µs of CPU each\n` +
      `guarded sender:    ${rate(guardedTotal).toFixed(0)}/s, ${cpuMicroseconds(guardedTotal).toFixed(1)} µs of CPU each\n` +
      `ratio of rates: ${(rate(guardedTotal) / rate(bareTotal)).toFixed(3)} in all, ${median(ratios).toFixed(3)} median of ${rounds} rounds of ${roundMs} ms\n`,
  )
  await outbound.close()
  await pool.close()
  await receiver.terminate()
}

async function measure(send: Send, durationMs: number): Promise<Figures> {
  let sent = 0
  const startedAt = performance.now()
  const cpuBefore = process.threadCpuUsage()
  const lane = async (): Promise<void> => {
    while (performance.now() - startedAt < durationMs) {
      await send()
      sent++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const cpu = process.threadCpuUsage(cpuBefore)
  return { sent, wallMs: performance.now() - startedAt, cpuMs: (cpu.user + cpu.system) / 1_000 }
}

function add(total: Figures, round: Figures): void {
  total.sent += round.sent
  total.wallMs += round.wallMs
  total.cpuMs += round.cpuMs
}

function rate({ sent, wallMs }: Figures): number {
  return (sent * 1_000) / wallMs
}

// Of this thread alone, so that a busy machine shows less in it than in the rate.
function cpuMicroseconds({ sent, cpuMs }: Figures): number {
  return (cpuMs * 1_000) / sent
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle - 0.5)] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

// In a thread of its own, so that the receiver's work is not counted as the sender's.
async function receive(): Promise<void> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('{"code":20000,"msg":""}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  parentPort?.postMessage((server.address() as AddressInfo).port)
}
