// Honest clients: so many requests a second whatever happens, most over connections that stay open, some over new ones.
// The time of a request is counted from when it was due, so that waiting for a busy line is not forgotten. Beside them
// visitors that nobody has heard of yet look at a page, each from an address of its own.
import { Agent, type RequestOptions, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { gatewayPath } from '@tillgate/protocol'
import { quantile } from '../../bench/figures.ts'
import type { Place } from './bare-connection.ts'

export interface HonestResult {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly count: number
  /** Everything that was not answered with success. */
  readonly failed: readonly string[]
  readonly tooksMs: readonly number[]
  readonly visitorsMs: readonly number[]
  /** The longest that anybody waited who came at the beginning: it counts in nothing else. */
  readonly slowestAtFirstMs: number
}

export interface HonestLoad {
  readonly place: Place
  /** Sealed envelopes, each sent once. */
  readonly envelopes: readonly string[]
  readonly perSecond: number
}

/** Not one of the attackers'. */
const honestAddress = '127.0.0.9'
const newConnectionEvery = 10
/** Often enough that the worst of them is not their p99. */
const visitorEvery = 10
const timeoutMs = 10_000
/**
 * Two hundred addresses that nobody has heard of are two hundred visitors until they have asked for more than visitors do.
 * In this time attackers start, in a process of their own, and do so.
 */
const firstMs = 2_000

export async function honestLoad({ place, envelopes, perSecond }: HonestLoad): Promise<HonestResult> {
  const kept = new Agent({ keepAlive: true, maxSockets: 16, localAddress: honestAddress } as object)
  const fresh = new Agent({ keepAlive: false, localAddress: honestAddress } as object)
  const tooksMs: number[] = []
  const visitorsMs: number[] = []
  const failed: string[] = []
  const underWay: Promise<void>[] = []
  const began = performance.now()
  let slowestAtFirstMs = 0
  for (const [turn, envelope] of envelopes.entries()) {
    const dueAt = began + (turn * 1_000) / perSecond
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await pause(waitMs)
    underWay.push(send(envelope, { dueAt, agent: turn % newConnectionEvery === 0 ? fresh : kept }))
    if (turn % visitorEvery === 0) underWay.push(visit(turn, dueAt))
  }
  await Promise.all(underWay)
  kept.destroy()
  return {
    p50Ms: quantile(tooksMs, 0.5),
    p99Ms: quantile(tooksMs, 0.99),
    count: envelopes.length,
    failed,
    tooksMs,
    visitorsMs,
    slowestAtFirstMs,
  }

  function note(dueAt: number, tooks: number[]): void {
    const tookMs = performance.now() - dueAt
    if (dueAt - began >= firstMs) tooks.push(tookMs)
    else slowestAtFirstMs = Math.max(slowestAtFirstMs, tookMs)
  }

  async function send(envelope: string, { dueAt, agent }: { dueAt: number; agent: Agent }): Promise<void> {
    await ask(
      { path: gatewayPath, method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      envelope,
    )
    note(dueAt, tooksMs)
  }

  async function visit(turn: number, dueAt: number): Promise<void> {
    const localAddress = `127.3.${Math.floor(turn / 250) % 250}.${1 + (turn % 250)}`
    await ask({ path: '/', agent: false, localAddress })
    note(dueAt, visitorsMs)
  }

  function ask(options: RequestOptions, body?: string): Promise<void> {
    return new Promise((resolve) => {
      const end = (problem?: string) => {
        if (problem !== undefined) failed.push(problem)
        resolve()
      }
      const sent = request({ ...place, timeout: timeoutMs, ...options }, (response) => {
        response.resume()
        response.on('end', () => end(response.statusCode === 200 ? undefined : `HTTP ${response.statusCode}`))
      })
      sent.on('timeout', () => sent.destroy(new Error('no answer in 10 s')))
      sent.on('error', (error) => end(error.message))
      sent.end(body)
    })
  }
}
