// The load generator: sends prepared requests over a fixed number of connections, as fast as they are answered,
// and tells the rate, the latencies and how much of a core it used itself.
import { Pool } from 'undici'
import { quantile } from './figures.ts'

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  /** Share of one core that the generator itself used. */
  readonly ownCpu: number
  /** In the order of the requests. */
  readonly answers: readonly string[]
}

export interface Page {
  readonly path: string
  readonly headers: Record<string, string>
}

export interface Load {
  /** Sealed envelopes, each of them posted once; or pages, each of them got once. */
  readonly requests: readonly (string | Page)[]
  readonly connections: number
}

export async function load(url: string, { requests, connections }: Load): Promise<LoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const latencies: number[] = []
  const answers: string[] = []
  let next = 0
  const send = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const began = performance.now()
      const { statusCode, body } = await pool.request(toRequest(requests[index] ?? ''))
      const text = await body.text()
      latencies.push(performance.now() - began)
      if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${text}`)
      answers[index] = text
    }
  }
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, send))
  const tookMs = performance.now() - began
  const cpu = process.cpuUsage(cpuBefore)
  await pool.close()
  return {
    perSecond: (requests.length / tookMs) * 1000,
    p50Ms: quantile(latencies, 0.5),
    ownCpu: (cpu.user + cpu.system) / 1000 / tookMs,
    answers,
  }
}

const postHeaders = { 'content-type': 'application/json' }

function toRequest(request: string | Page) {
  return typeof request === 'string'
    ? { path: '/api/v1/gateway', method: 'POST' as const, headers: postHeaders, body: request }
    : { ...request, method: 'GET' as const }
}
