// Asks a rail about a refund or a return of late money: start or status. Operators send and record refunds by bank
// transfer.
import assert from 'node:assert/strict'
import { parseRailRefundAnswer, type RailRefundAnswer } from '@tillgate/protocol'
import type { FinalAnswer } from '../../core/orders/payments/rules/payment.ts'
import type { ClaimedTask } from '../../core/orders/payments/rules/rail-task.ts'
import { type Refund, settleRefund } from '../../core/orders/refunds/rules/refund.ts'
import type { RefundStore } from '../../core/orders/refunds/store/refunds.ts'
import { type LoadParts, load } from './ask-about-payment.ts'
import { type Asked, type Inquiry, withCalls } from './inquiry.ts'
import type { AskRail } from './rail-client.ts'
import type { KnownRail } from './rail-directory.ts'
import type { Attempt } from './rules/attempt.ts'
import { lookAgainSeconds } from './rules/bank-transfer.ts'
import { decideReturn } from './rules/late-money.ts'
import { refundStart } from './rules/rail-message.ts'

export interface AskAboutRefundParts extends LoadParts {
  readonly refunds: Pick<RefundStore, 'findRefund'>
}

export function makeAskAboutRefund(parts: AskAboutRefundParts, ask: AskRail) {
  return async (task: ClaimedTask, rail: KnownRail): Promise<Inquiry> => {
    const facts = await load(parts, task)
    const refund = task.kind === 'refund' ? await findRefund(task) : undefined
    const asked: Asked<RailRefundAnswer> = rail.rail.account
      ? { kind: 'answered', answer: waitsForOperator, calls: [] }
      : await askRefund(task, rail, { attempt: facts.attempt, refund })
    if (asked.kind === 'failed') return asked
    const { answer, calls } = asked
    return {
      kind: 'answered',
      calls,
      async decide({ nowMs, transferId, callbackIds }) {
        const { order, attempt } = await load(parts, task, nowMs)
        const dueAtMs = nowMs + refundWaitMs(task, answer, nowMs)
        if (!refund)
          return { decision: decideReturn(attempt, answer, nowMs), before: { order, attempt }, dueAtMs }
        const final = finalOf(answer)
        if (!final) return { dueAtMs }
        const given = { transferId, callbackId: callbackIds[1], nowMs }
        return { refund: settleRefund({ order, refund }, final, given), dueAtMs }
      },
    }
  }

  async function findRefund({ merchantId, taskId }: ClaimedTask): Promise<Refund> {
    const refund = await parts.refunds.findRefund({ merchantId, refundId: taskId })
    assert(refund, 'a refund that is asked about exists')
    return refund
  }

  async function askRefund(
    { taskId, claims }: ClaimedTask,
    rail: KnownRail,
    { attempt, refund }: { readonly attempt: Attempt; readonly refund: Refund | undefined },
  ): Promise<Asked<RailRefundAnswer>> {
    const { amountMinor, reason } = refund ?? {
      amountMinor: attempt.amountMinor,
      reason: 'The money arrived after the order had ended.',
    }
    const start = () =>
      ask(rail, refundStart({ refundId: taskId, attempt, amountMinor, reason }), (text) =>
        parseRailRefundAnswer('refund.start', text),
      )
    if (claims === 1) return withCalls(await start(), [])
    const status = await ask(rail, { type: 'refund.status', refundId: taskId }, (text) =>
      parseRailRefundAnswer('refund.status', text),
    )
    if (status.kind === 'failed' || status.answer.status !== 'unknown') return withCalls(status, [])
    return withCalls(await start(), [status.call])
  }
}

const waitsForOperator: RailRefundAnswer = { status: 'submitted', checkAfterSeconds: lookAgainSeconds }

function finalOf(answer: RailRefundAnswer): FinalAnswer | undefined {
  if (answer.status === 'submitted' || answer.status === 'unknown') return undefined
  return answer.status === 'declined' ? { kind: 'declined', reason: answer.reason } : { kind: 'approved' }
}

const refundAgainMs = { least: 2_000, most: 10 * 60_000 } as const

function refundWaitMs(
  { createdAtMs }: ClaimedTask,
  { checkAfterSeconds }: RailRefundAnswer,
  nowMs: number,
): number {
  if (checkAfterSeconds !== undefined) return checkAfterSeconds * 1000
  return Math.round(Math.min(Math.max(refundAgainMs.least, (nowMs - createdAtMs) / 4), refundAgainMs.most))
}
