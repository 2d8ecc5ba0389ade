import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { billableFromMs, firstOpenDay, type Movement, sectionOf, startTotals } from './bill.ts'

const currency = fc.constantFrom('EUR', 'USD', 'JPY')
const balances = fc
  .array(fc.tuple(currency, fc.bigInt(0n, 10n ** 18n)))
  .map((pairs): ReadonlyMap<string, bigint> => new Map(pairs))
const movement = fc.record<Movement>({
  // Safe: these are its own keys.
  kind: fc.constantFrom(...(Object.keys(sectionOf) as Movement['kind'][])),
  currency,
  amountMinor: fc.bigInt(-(10n ** 18n), 10n ** 18n),
})

test('in every currency, opening balance and movements add up to the closing balance of the ledger', () => {
  fc.assert(
    fc.property(balances, balances, fc.array(movement), (before, ledger, moved) => {
      const totals = startTotals({ before, ledger })
      for (const each of moved) totals.add(each)
      for (const { currency: code, closing, opening, ...rest } of totals.read()) {
        const parts = Object.values(rest).reduce((sum, minor) => sum + minor, 0n)
        assert.equal(opening + parts, closing)
        assert.equal(opening, before.get(code) ?? 0n)
        const own = moved.filter((each) => each.currency === code)
        const sum = own.reduce((all, { amountMinor }) => all + amountMinor, 0n)
        assert.equal(closing, (ledger.get(code) ?? 0n) + sum)
      }
    }),
  )
})

test('a currency without a balance and without movements is omitted', () => {
  const empty = new Map([['EUR', 0n]])
  assert.deepEqual(startTotals({ before: empty, ledger: empty }).read(), [])
})

test('a day is open until fifteen minutes after its end', () => {
  const atMs = billableFromMs('2026-12-31')
  assert.equal(new Date(atMs).toISOString(), '2027-01-01T00:15:00.000Z')
  assert.equal(firstOpenDay(atMs - 1), '2026-12-31')
  assert.equal(firstOpenDay(atMs), '2027-01-01')
})
