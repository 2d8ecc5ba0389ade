// The ways to ask: the opening of envelopes in this process, the whole gateway over one connection, and its pages.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import {
  gatewayPath,
  openingToolsHere,
  parseRequestEnvelope,
  type RequestEnvelope,
  type RequestWire,
} from '@tillgate/protocol'
import type { Operations } from '../../packages/gateway/src/app/operations.ts'
import { makeOpenRequest } from '../../packages/gateway/src/core/merchants/open-request.ts'
import { refuseInConstantTime } from '../../packages/gateway/src/platform/http/admission/constant-time-refusal.ts'
import { systemClock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import { machineTime } from '../../packages/gateway/src/platform/runtime/timer.ts'
import type { TestClock } from '../../packages/gateway/test/support/clock.ts'
import type { PageRequest } from './doors.ts'
import type { Ask } from './sample.ts'

export function askInProcess({
  directory,
}: Pick<Operations, 'directory'>): Ask<RequestWire, RequestEnvelope> {
  const open = makeOpenRequest({
    directory,
    noteKeyUse: () => assert.fail('nothing opens here'),
    clock: systemClock,
    toolsFor: () => openingToolsHere,
  })
  return {
    prepare: (envelope) => parseRequestEnvelope(JSON.stringify(envelope)),
    async ask(envelope) {
      assert.equal(
        await refuseInConstantTime(() => open(envelope, { isQuiet: true }), machineTime),
        undefined,
      )
    },
  }
}

/** `close` when it is over. */
export async function askOverHttp(url: string): Promise<Ask<RequestWire, Buffer> & { close(): void }> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return {
    prepare(envelope) {
      const text = JSON.stringify(envelope)
      const head = `POST ${gatewayPath} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`
      return Buffer.from(head + text)
    },
    async ask(request) {
      const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve))
      socket.write(request)
      // Our answers are small: they come in one piece.
      assert.equal((await answer).toString('latin1', 9, 12), '401')
    },
    close: () => socket.destroy(),
  }
}

/** Longer than any lock, rate or code remembers. */
const quietMs = 8 * 24 * 60 * 60 * 1000
const addresses = 250

/**
 * Through a proxy that the gateway trusts, from another address each time and long after the last request: neither locks
 * nor rates are in the way. Whatever the kind, the answer must have the same status.
 */
export async function askPages(
  url: string,
  clock: TestClock,
): Promise<Ask<PageRequest, Buffer> & { close(): void }> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let asked = 0
  let status: string | undefined
  return {
    async prepare({ path, headers, body, restMs }) {
      if (restMs !== undefined) await pause(restMs)
      clock.advance(quietMs)
      const lines = Object.entries({
        host: `${hostname}:${port}`,
        'x-forwarded-for': `198.51.100.${1 + (asked++ % addresses)}`,
        ...headers,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      }).map(([name, value]) => `${name}: ${value}\r\n`)
      const verb = body === undefined ? 'GET' : 'POST'
      return Buffer.from(`${verb} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
    },
    async ask(request) {
      const answer = wholeAnswer(socket)
      socket.write(request)
      const { head } = await answer
      status ??= head.slice(9, 12)
      assert.equal(head.slice(9, 12), status, `${request.toString().split('\r\n')[0]}: ${head}`)
    },
    close: () => socket.destroy(),
  }
}

/** Pages say how long they are. */
function wholeAnswer(socket: Socket): Promise<{ head: string }> {
  return new Promise((resolve) => {
    let text = ''
    const read = (piece: Buffer) => {
      text += piece.toString('latin1')
      const headEnds = text.indexOf('\r\n\r\n')
      if (headEnds < 0) return
      const head = text.slice(0, headEnds)
      const [, length = '0'] = /^content-length: (\d+)$/im.exec(head) ?? []
      if (text.length < headEnds + 4 + Number(length)) return
      socket.off('data', read)
      resolve({ head })
    }
    socket.on('data', read)
  })
}
