// The payout file of a run, for the bank: XML (pain.001) or CSV. The file exists once the run is sent and never changes.
import { Failure, uuidPattern } from '@tillgate/protocol'
import { painHead, painPayout, painTail } from './rules/pain001.ts'
import type { PayoutRun } from './rules/payout.ts'
import { payoutCsvHead, payoutCsvRow } from './rules/payout-csv.ts'
import type { PayoutRunStore } from './store/payout-runs.ts'
import type { PayoutStore } from './store/payouts.ts'

export interface PayoutFileParts {
  readonly payoutRuns: Pick<PayoutRunStore, 'findRun' | 'fileTotalsOf'>
  readonly payouts: Pick<PayoutStore, 'listFilePayouts'>
}

export type FileFormat = 'xml' | 'csv'

const payoutsPerPage = 2_000

/** Throws before the first byte if there is no such file. */
export async function exportPayoutFile(
  parts: PayoutFileParts,
  runId: string,
  format: FileFormat,
): Promise<AsyncGenerator<string>> {
  const run = await findRun(parts, runId)
  const { debtor, sentAtMs } = run
  if (!debtor || sentAtMs === undefined)
    throw new Failure('status_does_not_allow', {
      message: 'The file is available after the run is sent.',
    })
  if (format === 'csv') return write(parts, runId, { head: payoutCsvHead, row: payoutCsvRow, tail: '' })
  if (debtor.iban === undefined && debtor.lines === undefined)
    throw new Failure('status_does_not_allow', {
      message: `The bank account ${run.bankName} had neither an IBAN nor an account number when the run was sent, so a payment file cannot be created. Download the CSV instead.`,
    })
  const head = painHead({ ...run, debtor, sentAtMs }, await parts.payoutRuns.fileTotalsOf(runId))
  return write(parts, runId, { head, row: painPayout, tail: painTail })
}

export async function findRun({ payoutRuns }: PayoutFileParts, runId: string): Promise<PayoutRun> {
  const found = uuidPattern.test(runId) ? await payoutRuns.findRun(runId) : undefined
  if (found) return found
  throw new Failure('not_found', { message: `Run ${runId} does not exist.` })
}

async function* write(
  { payouts }: PayoutFileParts,
  runId: string,
  { head, row, tail }: { head: string; row: typeof painPayout; tail: string },
): AsyncGenerator<string> {
  yield head
  let after = ''
  for (;;) {
    const page = await payouts.listFilePayouts(runId, { after, limit: payoutsPerPage })
    yield page.map(row).join('')
    const last = page.at(-1)
    if (!last || page.length < payoutsPerPage) break
    after = last.payoutId
  }
  yield tail
}
