// The trial balance for whoever looks at it on a page. It adds up every account, which takes about a microsecond each: of
// many it is kept for some seconds, and says how old it is.
import type { Clock } from '../../platform/runtime/clock.ts'
import type { BalanceLine } from './store/trial-balance.ts'

export interface Books {
  readonly lines: readonly BalanceLine[]
  readonly readAtMs: number
}

export type ReadBooks = () => Promise<Books>

const manyAccounts = 10_000
const keptMs = 10_000

export function makeReadBooks(parts: {
  readonly trialBalance: () => Promise<readonly BalanceLine[]>
  readonly clock: Pick<Clock, 'now'>
}): ReadBooks {
  let kept: Books | undefined
  return async () => {
    const nowMs = parts.clock.now()
    if (kept && nowMs < kept.readAtMs + keptMs) return kept
    const books = { lines: await parts.trialBalance(), readAtMs: nowMs }
    const accounts = books.lines.reduce((all, line) => all + line.accounts, 0)
    kept = accounts < manyAccounts ? undefined : books
    return books
  }
}
