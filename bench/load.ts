// The load generator: sends prepared requests over a fixed number of connections, as fast as they are answered,
// and tells the rate, the latencies and how much of a core it used itself.
import { Pool } from 'undici'

export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Share of one core that the generator itself used. */
  readonly ownCpu: number
  readonly answers: readonly string[]
}

export async function load(
  url: string,
  {
    requests,
    connections,
    path = '/api/v1/gateway',
  }: { requests: readonly string[]; connections: number; path?: string },
): Promise<LoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const latencies: number[] = []
  const answers: string[] = []
  let next = 0
  const send = async (): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const began = performance.now()
      const { statusCode, body } = await pool.request({
        path,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: requests[index] ?? '',
      })
      const text = await body.text()
      latencies.push(performance.now() - began)
      if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${text}`)
      answers.push(text)
    }
  }
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, send))
  const tookMs = performance.now() - began
  const cpu = process.cpuUsage(cpuBefore)
  await pool.close()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0
  return {
    perSecond: (requests.length / tookMs) * 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    ownCpu: (cpu.user + cpu.system) / 1000 / tookMs,
    answers,
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
