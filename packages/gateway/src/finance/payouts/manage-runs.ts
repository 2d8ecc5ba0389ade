// Payout runs: list, send to the bank as a file, and record the bank's result. The file exists once the run is sent
// and never changes.

import { Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type AnyContext, reading } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { checkValueDate } from '../treasury/rules/operator-bank-account.ts'
import type { BankAccountStore } from '../treasury/store/bank-accounts.ts'
import { exportPayoutFile, type FileFormat, findRun, type PayoutFileParts } from './export-payout-file.ts'
import type { PayoutRun } from './rules/payout.ts'
import type { PayoutRunStore, RunEnding, StatusTotals } from './store/payout-runs.ts'

export interface ManageRunsParts extends ClockAndRandom, PayoutFileParts {
  readonly payoutRuns: PayoutRunStore
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
}

export interface RunWithTotals {
  readonly run: PayoutRun
  readonly totals: readonly StatusTotals[]
}

export type ManageRuns = ReturnType<typeof makeManageRuns>

export function makeManageRuns(parts: ManageRunsParts) {
  const { payoutRuns, bankAccounts: banks, clock } = parts

  const find = (runId: string): Promise<PayoutRun> => findRun(parts, runId)

  const show = async (runId: string): Promise<RunWithTotals> => ({
    run: await find(runId),
    totals: await payoutRuns.totalsOf(runId),
  })

  return {
    listRuns: (_context: AnyContext, page: { before?: string | undefined; limit: number }) =>
      payoutRuns.listRuns(page),
    countToSend: (_context: AnyContext) => payoutRuns.countToSend(),
    showRun: reading(show),

    /** Sends all payouts that were not cancelled. */
    async sendRun(context: AnyContext, runId: string, reason: string): Promise<RunWithTotals> {
      const run = await find(runId)
      const bank = (await banks.listBanks()).find(({ bankName }) => bankName === run.bankName)
      if (!bank) throw new Error('every run names a bank account')
      const { holder, iban, lines, bic } = bank
      const sending = { runId, debtor: { holder, iban, lines, bic }, nowMs: clock.now() }
      const outcome = await payoutRuns.sendRun(sending, (needsReview) =>
        makeAuditEntry(parts, context, 'payout-run.send', runId, {
          reason,
          ...(!needsReview && { effects: [] }),
        }),
      )
      if (outcome === 'sent') return show(runId)
      if (outcome === 'nothing_left')
        throw new Failure('status_does_not_allow', {
          message: 'All payouts of the run were cancelled, so nothing is left to send. Cancel the run.',
        })
      throw notNow(await find(runId), 'sent')
    },

    /** Workers end the payouts in batches. */
    async endRun(
      context: AnyContext,
      runId: string,
      given: Omit<RunEnding, 'askedAtMs' | 'sentAtMs'>,
      reason: string,
    ): Promise<RunWithTotals> {
      if (given.valueDate !== undefined) checkValueDate(given.valueDate)
      const { sentAtMs } = await find(runId)
      const recorded = makeAuditEntry(
        parts,
        context,
        given.ending === 'paid' ? 'payout-run.paid' : 'payout-run.cancel',
        runId,
        {
          reason,
          // Cancelling before the file was sent returns money that never left.
          ...(sentAtMs === undefined && { effects: [] }),
        },
      )
      const ending = { ...given, askedAtMs: recorded.actedAtMs, sentAtMs }
      if (!(await payoutRuns.endRun(runId, ending, recorded))) throw notNow(await find(runId), given.ending)
      return show(runId)
    },
    exportRun: (_context: AnyContext, runId: string, format: FileFormat) =>
      exportPayoutFile(parts, runId, format),
  }
}

function notNow({ closedAtMs, sentAtMs, ending }: PayoutRun, wanted: 'sent' | 'paid' | 'cancelled'): Failure {
  const message =
    (ending !== undefined && `The run is already ${ending}.`) ||
    (closedAtMs === undefined && 'The run is still collecting payouts. Wait until it closes.') ||
    (wanted === 'sent' && sentAtMs !== undefined && 'The run was already sent.') ||
    (sentAtMs !== undefined && 'The run was sent in the meantime. Review it and try again.') ||
    'Send the run first.'
  return new Failure('status_does_not_allow', { message })
}
