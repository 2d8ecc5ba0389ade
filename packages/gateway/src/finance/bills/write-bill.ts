// Writes a bill as comma-separated values in parts of limited size, with its hash and totals.
import { createHash } from 'node:crypto'
import { csvBalances, csvEntries, csvHeads } from '../../core/ledger/write-statement.ts'
import { balancesOf, startTotals } from './rules/bill.ts'
import type { StartBill } from './store/make-bill.ts'

const partCharacters = 256 * 1024

export const startBill: StartBill = (opening, keep) => {
  const totals = startTotals(opening)
  const hash = createHash('sha256')
  const atStart = totals.read()
  const late = balancesOf(atStart, 'late')
  let bytes = 0
  let lines = late.size
  let part = csvHeads + csvBalances('opening', balancesOf(atStart, 'opening')) + csvBalances('late', late)
  const flush = async () => {
    hash.update(part)
    bytes += Buffer.byteLength(part)
    await keep(part)
    part = ''
  }
  return {
    async entries(page) {
      for (const entry of page) totals.add(entry)
      lines += page.length
      part += csvEntries(page)
      if (part.length >= partCharacters) await flush()
    },
    async end() {
      part += csvBalances('closing', balancesOf(totals.read(), 'closing'))
      await flush()
      return { lines, bytes, sha256: hash.digest('hex'), totals: totals.read() }
    },
  }
}
