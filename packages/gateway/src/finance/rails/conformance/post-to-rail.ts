// One POST to a rail under test, within the gateway's own limits.
import { maxRailMessageBytes, railAnswerTimeoutMs } from '@tillgate/protocol'
import type { ProbeParts, RailResponse } from './probe.ts'

export function postToRail(url: string, timeoutMs: number = railAnswerTimeoutMs): ProbeParts['post'] {
  return async (body, headers): Promise<RailResponse> => {
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      // The gateway requests no compression either: the signature covers the bytes as received.
      const sent = { ...headers, 'accept-encoding': 'identity' }
      const response = await fetch(url, { method: 'POST', headers: sent, body, redirect: 'manual', signal })
      const answer = await readAtMost(response, maxRailMessageBytes)
      if (answer === undefined) return failed(`its response is larger than ${maxRailMessageBytes} bytes`)
      const { status: httpStatus, headers: received } = response
      return { kind: 'answered', httpStatus, headers: Object.fromEntries(received), body: answer }
    } catch (error) {
      const { name, message, cause } = error as Error
      if (name === 'TimeoutError') return failed(`it did not respond within ${timeoutMs / 1000} seconds`)
      return failed(`it cannot be reached: ${cause instanceof Error ? cause.message : message}`)
    }
  }
}

const failed = (reason: string) => ({ kind: 'failed', reason }) as const

async function readAtMost(response: Response, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
