// The two ways to ask: the opening of envelopes in this process, and the whole gateway over one connection.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gatewayPath, openingToolsHere, parseRequestEnvelope, type RequestEnvelope } from '@tillgate/protocol'
import type { Operations } from '../../packages/gateway/src/app/operations.ts'
import { refuseInConstantTime } from '../../packages/gateway/src/http/admission/constant-time-refusal.ts'
import { makeOpenRequest } from '../../packages/gateway/src/merchants/open-request.ts'
import { systemClock } from '../../packages/gateway/src/platform/clock.ts'
import { machineTime } from '../../packages/gateway/src/platform/timer.ts'
import type { Ask } from './sample.ts'

export function askInProcess({ directory }: Pick<Operations, 'directory'>): Ask<RequestEnvelope> {
  const open = makeOpenRequest({
    directory,
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
export async function askOverHttp(url: string): Promise<Ask<Buffer> & { close(): void }> {
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
