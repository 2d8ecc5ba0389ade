import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigint, number, rowShape } from './row-shape.ts'

interface Account {
  readonly accountId: string
  readonly balanceMinor: bigint
  readonly openedAtMs: number
  readonly closedAtMs: number | undefined
  readonly note: string | undefined
}

const account = rowShape<Account>('account', {
  accountId: 'a.account_id',
  balanceMinor: bigint('a.credits - a.debits'),
  openedAtMs: number('a.opened_at'),
  closedAtMs: number('a.closed_at'),
  note: 'a.note',
})

test('the select list and the reader come from one declaration', () => {
  assert.equal(
    account.columns.text,
    'a.account_id as "account.accountId", a.credits - a.debits as "account.balanceMinor", ' +
      'a.opened_at as "account.openedAtMs", a.closed_at as "account.closedAtMs", a.note as "account.note"',
  )
  const row = {
    'account.accountId': 'wallet:1',
    'account.balanceMinor': '9007199254740993',
    'account.openedAtMs': '1700000000000',
    'account.closedAtMs': null,
    'account.note': null,
    'other.accountId': 'wallet:2',
  }
  assert.deepEqual(account.read(row), {
    accountId: 'wallet:1',
    balanceMinor: 9007199254740993n,
    openedAtMs: 1_700_000_000_000,
    closedAtMs: undefined,
    note: undefined,
  })
})

test('a number that stays text, and an omitted column, do not compile', () => {
  // @ts-expect-error: the driver returns a bigint as text.
  rowShape<Pick<Account, 'openedAtMs'>>('account', { openedAtMs: 'a.opened_at' })
  // @ts-expect-error: every property has its source.
  rowShape<Account>('account', { accountId: 'a.account_id' })
})
