// The trial balance for pages. It sums every account, at about a microsecond each, so the result is cached for some
// seconds with its age.
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
