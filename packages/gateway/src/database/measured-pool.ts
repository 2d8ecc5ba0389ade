// The same pool, which tells how long each statement and each transaction took, the wait for a connection included.
import type { Pool } from './pool.ts'

export interface Measured {
  readonly kind: 'statement' | 'transaction'
  readonly durationMs: number
  readonly isGood: boolean
}

export function measuredPool(pool: Pool, tell: (measured: Measured) => void): Pool {
  async function measure<Result>(kind: Measured['kind'], run: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now()
    let isGood = false
    try {
      const result = await run()
      isGood = true
      return result
    } finally {
      tell({ kind, durationMs: performance.now() - startedAtMs, isGood })
    }
  }
  return {
    ...pool,
    query: (statement, values) => measure('statement', () => pool.query(statement, values)),
    transaction: (work, options) => measure('transaction', () => pool.transaction(work, options)),
  }
}
