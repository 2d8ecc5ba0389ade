// Keeps connections open by origin: limited per receiver and in total, and replaced after their maximum age, because
// DNS may have changed.

import { targetOf } from '../runtime/ssrf-guard.ts'
import { type Guard, openConnection } from './connect.ts'
import type { OutboundLimits } from './limits.ts'
import { Pool } from './undici-pool.ts'

interface Kept {
  readonly pool: Pool
  readonly openedAt: number
}

export class Origins {
  readonly #guard: Guard
  readonly #limits: OutboundLimits
  readonly #now: () => number
  // In order of last use, oldest first.
  readonly #kept = new Map<string, Kept>()
  readonly #closing = new Set<Promise<void>>()

  constructor(guard: Guard, limits: OutboundLimits, now: () => number) {
    this.#guard = guard
    this.#limits = limits
    this.#now = now
  }

  poolFor(url: URL): Pool {
    const now = this.#now()
    const kept = this.#kept.get(url.origin)
    if (kept !== undefined) {
      this.#kept.delete(url.origin)
      const ageMs = now - kept.openedAt
      // Negative if the clock was set back.
      if (ageMs >= 0 && ageMs < this.#limits.connectionLifeMs) {
        this.#kept.set(url.origin, kept)
        return kept.pool
      }
      this.#retire(kept.pool)
    } else if (this.#kept.size >= this.#limits.originsKept) {
      this.#retireLongestUnused()
    }
    const pool = this.#makePool(url)
    this.#kept.set(url.origin, { pool, openedAt: now })
    return pool
  }

  async close(): Promise<void> {
    for (const { pool } of this.#kept.values()) this.#retire(pool)
    this.#kept.clear()
    await Promise.all(this.#closing)
  }

  #makePool(url: URL): Pool {
    const origin = { ...targetOf(url), isSecure: url.protocol === 'https:' }
    const limits = this.#limits
    return new Pool(url.origin, {
      connections: limits.connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: limits.maxAnswerHeaderBytes,
      keepAliveTimeout: limits.idleConnectionMs,
      keepAliveMaxTimeout: limits.connectionLifeMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        openConnection(origin, this.#guard).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        )
      },
    })
  }

  #retireLongestUnused(): void {
    for (const [name, { pool }] of this.#kept) {
      this.#kept.delete(name)
      this.#retire(pool)
      return
    }
  }

  /** Running and waiting requests finish; their own timeouts bound them. */
  #retire(pool: Pool): void {
    const closed = pool.close().finally(() => this.#closing.delete(closed))
    this.#closing.add(closed)
  }
}
