// What a second operator does with a request: approves it, and with that carries it out, in one transaction; or rejects
// it. Whoever asked can withdraw. All limits are checked anew at that moment.
import { Failure, makeUuid, toDecimalText, uuidPattern } from '@tillgate/protocol'
import type { SecondStep } from '../accounts/second-step.ts'
import type { ManageMembers } from '../members/manage-members.ts'
import type { ManageMerchants } from '../merchants/manage-merchants.ts'
import type { ManageOrders } from '../orders/manage-orders.ts'
import type { ManageBankAccounts } from '../payouts/manage-bank-accounts.ts'
import type { ManagePayouts } from '../payouts/manage-payouts.ts'
import type { ClockAndRandom } from '../platform/clock.ts'
import type { RecordTransfers } from '../rails/record-transfers.ts'
import type { CorrectBooks } from '../treasury/correct-books.ts'
import { mainBank } from '../treasury/rules/bank-account.ts'
import type { ManageWallets } from '../wallets/manage-wallets.ts'
import { makeActs } from './audit-entries.ts'
import {
  type Approval,
  type ApprovalRequest,
  type ApprovalStatus,
  asOf,
  checkAsker,
  checkDecision,
  type Decision,
  describeAct,
  merchantIdOf,
  notWaiting,
} from './rules/approval.ts'
import type { Operator } from './rules/operator.ts'
import type { ApprovalStore } from './store/approvals.ts'
import type { OperatorStore } from './store/operators.ts'

export interface DecideApprovalsParts extends ClockAndRandom {
  readonly approvals: ApprovalStore
  readonly operators: Pick<OperatorStore, 'findOperator'>
  readonly memberSecondStep: Pick<SecondStep, 'reset'>
  /** Acts in the name of whoever asked: it is their act, and the approval beside it says who allowed it. */
  readonly carryOutAs: (actor: string) => {
    readonly orders: ManageOrders
    readonly wallets: ManageWallets
    readonly corrections: CorrectBooks
    readonly payouts: ManagePayouts
    readonly bankAccounts: ManageBankAccounts
    readonly merchants: ManageMerchants
    readonly transfers: RecordTransfers
    readonly members: ManageMembers
  }
  /** What a break of a statement may wait for is in the books. */
  readonly onBooked: () => void
}

/** Who decides, and from where. */
export interface Decider {
  readonly operator: Pick<Operator, 'login' | 'role'>
  readonly actor: string
}

/** Told this once, to whoever approves: before that there is none. */
interface Secrets {
  readonly aesKey?: string | undefined
  /** For a member to open; left out where it went by mail. */
  readonly link?: string | undefined
}

export type Approved = ApprovalRequest & Secrets

export type DecideApprovals = ReturnType<typeof makeDecideApprovals>

export function makeDecideApprovals(parts: DecideApprovalsParts) {
  const { approvals, operators, clock, random } = parts

  const find = async (approvalId: string): Promise<ApprovalRequest> => {
    const found = uuidPattern.test(approvalId) ? await approvals.findRequest(approvalId) : undefined
    if (!found) throw new Failure('not_found', { message: `There is no request ${approvalId}.` })
    return asOf(found, clock.now())
  }

  const act = (name: string, request: ApprovalRequest, actor: string, reason: string) =>
    makeActs({ clock, random, actor })(`approval.${name}`, request.approvalId, {
      merchantId: merchantIdOf(request.act),
      reason,
    })

  const refuse = async (
    decision: Exclude<Decision, 'approve'>,
    approvalId: string,
    by: Decider,
    reason: string,
  ): Promise<ApprovalRequest> => {
    const request = await find(approvalId)
    const nowMs = clock.now()
    checkDecision(decision, request, { by: by.operator, nowMs })
    const refusal = {
      approvalId,
      status: decision === 'reject' ? ('rejected' as const) : ('withdrawn' as const),
      decidedBy: by.operator.login,
      decidedAs: by.actor,
      decidedAtMs: nowMs,
      reason,
    }
    const done = await approvals.refuse(refusal, act(decision, request, by.actor, reason))
    const after = await find(approvalId)
    if (!done && after.status !== 'waiting') throw notWaiting(after.status, after.decidedBy)
    return after
  }

  return {
    findRequest: find,

    listRequests: (
      filter: { status?: ApprovalStatus | undefined },
      page: { before?: string | undefined; limit: number },
    ) => approvals.listRequests(filter, page),

    /** How many wait. What is too old is ended by whoever looks: nobody needs it ended before. */
    async countWaiting(): Promise<number> {
      const nowMs = clock.now()
      const { waiting, due } = await approvals.countWaiting(nowMs)
      if (due > 0)
        await approvals.expireDue(nowMs, (request) =>
          act('expire', request, 'gateway', describeAct(request.act)),
        )
      return waiting
    },

    /** Carries the act out, once, whoever else approves it at this very moment. */
    async approve(approvalId: string, by: Decider, reason: string): Promise<Approved> {
      const request = await find(approvalId)
      const nowMs = clock.now()
      checkDecision('approve', request, { by: by.operator, nowMs })
      checkAsker(request, await operators.findOperator(request.requestedBy))
      const secrets = await carryOut(request, {
        approvalId,
        auditId: makeUuid(nowMs, random),
        decidedBy: by.operator.login,
        decidedAs: by.actor,
        decidedAtMs: nowMs,
        reason,
      })
      const after = await find(approvalId)
      if (after.status === 'waiting')
        // The refund of this number is there, made by somebody who did not need to ask.
        throw new Failure('number_already_used', {
          message:
            'The refund number of this request was used by somebody else meanwhile. Reject the request.',
        })
      if (after.decidedBy !== by.operator.login || after.status !== 'approved')
        throw notWaiting(after.status, after.decidedBy)
      return { ...after, ...secrets }
    },

    reject: (approvalId: string, by: Decider, reason: string) => refuse('reject', approvalId, by, reason),
    withdraw: (approvalId: string, by: Decider, reason: string) => refuse('withdraw', approvalId, by, reason),
  }

  async function carryOut(
    { act, reason, requestedAs }: ApprovalRequest,
    approval: Approval,
  ): Promise<Secrets> {
    const { orders, corrections, wallets, payouts, bankAccounts, merchants, transfers, members } =
      parts.carryOutAs(requestedAs)
    switch (act.kind) {
      case 'order.refund': {
        const { referRefundNo, amountMinor, currency } = act
        const amount = toDecimalText(amountMinor, currency)
        await orders.refundOrder(act, { referRefundNo, amount, reason, approval })
        return {}
      }
      case 'merchant.payout':
        await payouts.requestPayout(
          { ...act, bankName: act.outside?.bankName ?? mainBank },
          { reason, approval },
        )
        return {}
      case 'merchant.bank-account':
        await bankAccounts.setBankAccount(act.merchantId, act.account, { reason, approval })
        return {}
      case 'wallet.top-up': {
        const { walletId: wallet, currency, amountMinor, outside } = act
        await wallets.topUp({ wallet, currency, amountMinor, outside, reason, approval })
        return {}
      }
      case 'correction':
        await corrections.correct(act.correction, reason, { approval })
        parts.onBooked()
        return {}
      case 'transfer.confirm': {
        const { railId, paymentId: reference, currency, amountMinor, entry } = act
        const receipt = { ...entry, reference, currency, amountMinor, reason }
        await transfers.confirmTransfer(railId, receipt, { approval })
        parts.onBooked()
        return {}
      }
      case 'key.add':
        return { aesKey: (await merchants.addKey(act.merchantId, act.key, { reason, approval })).secret }
      case 'merchant.callback-hosts': {
        const { merchantId, callbackHosts } = act
        await merchants.changeMerchant(merchantId, { callbackHosts }, { reason, approval })
        return {}
      }
      case 'member.invite': {
        const { link } = await members.inviteMember({ ...act, email: act.login }, { reason, approval })
        return { link }
      }
      case 'member.change-role':
        await members.changeRole(act, { reason, approval })
        return {}
      case 'member.recover': {
        const { link } = await members.recoverAccount(act, reason, { approval })
        return { link }
      }
      case 'member.reset-totp': {
        const login = await members.demandMember(act)
        await parts.memberSecondStep.reset(login, { actor: requestedAs, reason, approval })
        return {}
      }
    }
  }
}
