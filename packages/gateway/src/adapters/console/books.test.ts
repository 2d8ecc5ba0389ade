// The balances on the money page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BalanceLine } from '../../core/ledger/store/trial-balance.ts'
import type { Standing } from '../../finance/reconciliation/read-standings.ts'
import { atBanks, booksByCurrency } from './books.ts'

const none = {
  debitsPendingMinor: 0n,
  debitsPostedMinor: 0n,
  creditsPendingMinor: 0n,
  creditsPostedMinor: 0n,
}
const line = (ownerKind: BalanceLine['ownerKind'], of: Partial<BalanceLine>): BalanceLine => ({
  ...none,
  currency: 'EUR',
  ownerKind,
  accounts: 1,
  ...of,
})
const standing = (currency: string, throughRailsMinor: bigint): Standing => ({
  account: 'bank:main',
  bankName: 'main',
  currency,
  expectedMinor: throughRailsMinor,
  throughRailsMinor,
  transferRails: ['transfer'],
  statement: undefined,
})

test('bank transfers count toward the bank account, card collections do not', () => {
  const [row] = booksByCurrency([
    line('bank', { creditsPostedMinor: 6450n }),
    line('rail', { debitsPostedMinor: 9500n + 2000n }),
    line('merchant', { creditsPostedMinor: 5050n }),
  ])
  assert(row)
  assert.deepEqual([row.balances.bank, row.balances.rail], [-6450n, 11_500n])
  const { balances } = atBanks(row, [standing('EUR', 9500n), standing('USD', 700n)])
  assert.deepEqual([balances.bank, balances.rail], [3050n, 2000n])
})
