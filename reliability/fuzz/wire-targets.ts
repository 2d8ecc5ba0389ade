// Bytes on a bare connection, in both directions: what anybody may send to the gateway, and what a merchant's server may
// answer to a callback.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gatewayPath } from '@tillgate/protocol'
import {
  decideOutcome,
  type Progress,
} from '../../packages/gateway/src/core/callbacks/rules/callback-attempt.ts'
import { outboundLimits } from '../../packages/gateway/src/platform/outbound/limits.ts'
import {
  makeOutbound,
  type OutboundPolicy,
  systemParts,
} from '../../packages/gateway/src/platform/outbound/outbound.ts'
import type { Target } from './guided.ts'
import type { FuzzWorld } from './world.ts'

export async function wireToTheGateway({ gateway, merchant }: FuzzWorld): Promise<Target> {
  const { hostname, port } = new URL(gateway.url)
  const sealed = JSON.stringify(await merchant.seal('service.trade.query', { orderNo: 'none' }))
  const head = `POST ${gatewayPath} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n`
  const inChunks = `${sealed.length.toString(16)};a="b"\r\n${sealed}\r\n0\r\nx-trailer: 1\r\n\r\n`
  return {
    name: 'wire to the gateway',
    words: [
      'transfer-encoding: chunked',
      'content-length: 5',
      'connection: upgrade',
      'expect: 100-continue',
      '\r\n',
      '\n',
    ],
    seeds: [
      `${head}content-length: ${sealed.length}\r\n\r\n${sealed}`,
      `${head}transfer-encoding: chunked\r\n\r\n${inChunks}`,
      `GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n${head}content-length: 2\r\n\r\n{}`,
      `GET /checkout/abc?lang=de HTTP/1.1\r\nhost: x\r\naccept-language: de\r\ncookie: a=b\r\n\r\n`,
      `POST /sandbox HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 6\r\n\r\nname=a`,
    ].map((text) => Buffer.from(text)),
    async run(input) {
      const socket = connect({ host: hostname, port: Number(port) })
      // It may cut the line while we still send.
      const answered = buffer(socket).catch(() => Buffer.alloc(0))
      socket.on('error', () => {})
      socket.end(input)
      const text = (await answered).toString('latin1')
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status)
      assert(text === '' || text.startsWith('HTTP/1.1 '), 'an answer begins with its status')
      assert(!statuses.some((status) => status.startsWith('5')), `answered ${statuses.join(', ')}`)
      return statuses[0] ?? 'no answer'
    },
  }
}

/** `close` when it is over. */
export async function answersToCallbacks(): Promise<{ target: Target; close(): Promise<void> }> {
  const answers: Buffer[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answers.shift() ?? ''))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  const policy: OutboundPolicy = { mode: 'sandbox', allowedTargets: [], ...outboundLimits }
  const outbound = makeOutbound(policy, systemParts())
  const nowMs = 1_760_000_000_000
  const progress: Progress = {
    state: 'waiting',
    attemptsMade: 1,
    retriesMade: 1,
    firstAttemptAtMs: nowMs - 60_000,
    nextAttemptAtMs: nowMs,
  }
  const right = '{"code":20000,"msg":""}'
  const target: Target = {
    name: 'answer to a callback',
    words: [
      'retry-after: 5',
      'content-length: 99999999999',
      'transfer-encoding: chunked',
      'HTTP/1.1 100 Continue\r\n\r\n',
    ],
    seeds: [
      `HTTP/1.1 200 OK\r\ncontent-length: ${right.length}\r\n\r\n${right}`,
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n17\r\n${right}\r\n0\r\n\r\n`,
      'HTTP/1.1 503 Busy\r\nretry-after: 120\r\nconnection: close\r\n\r\nlater',
      'HTTP/1.1 429 No\r\nretry-after: Wed, 21 Oct 2026 07:28:00 GMT\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n',
    ].map((text) => Buffer.from(text)),
    async run(input) {
      answers.push(input)
      const delivery = await outbound.post({ url: `http://127.0.0.1:${port}/`, body: '{}' })
      if (delivery.kind === 'answered') assert(delivery.answer.length <= outboundLimits.maxAnswerBytes)
      const attempt = { delivery, isResend: false, startedAtMs: nowMs, nowMs, chance: () => 0.5 }
      const { state, nextAttemptAtMs, verdict } = decideOutcome(progress, attempt)
      assert.equal(
        nextAttemptAtMs === undefined,
        state !== 'waiting',
        'what waits has a time, what is over has none',
      )
      assert(nextAttemptAtMs === undefined || Number.isSafeInteger(nextAttemptAtMs))
      assert(
        nextAttemptAtMs === undefined ||
          (nextAttemptAtMs > nowMs && nextAttemptAtMs < nowMs + 8 * 86_400_000),
        'the next attempt is on the ladder',
      )
      return verdict.kind
    },
  }
  return {
    target,
    async close() {
      server.close()
      await outbound.close()
    },
  }
}
