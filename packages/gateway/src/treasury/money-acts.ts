// The one way by which operators refund, pay out and top up: what may be done at once is done, and what wants a second
// operator becomes a request. The console, the admin API and the command line all come through here.
import { Failure, makeCallbackId as makeUuid, type RandomBytes, type RefundAnswer } from '@tillgate/protocol'
import {
  type ApprovalPolicy,
  type ApprovalRequest,
  describeMoneyAct,
  isSameMoneyAct,
  type MoneyAct,
  refundLimitMinor,
} from '../operators/rules/approval.ts'
import type { Operator } from '../operators/rules/operator.ts'
import type { ApprovalStore } from '../operators/store/approvals.ts'
import { type ManageOrders, RefundNeedsApproval } from '../orders/manage-orders.ts'
import type { OrderKey } from '../orders/rules/order.ts'
import type { Clock } from '../platform/clock.ts'
import type { ManageWallets } from '../wallets/manage-wallets.ts'
import type { MoveFunds } from './move-funds.ts'

export interface MoneyActsParts {
  readonly orders: ManageOrders
  readonly wallets: ManageWallets
  readonly funds: MoveFunds
  readonly approvals: ApprovalStore
  readonly policy: ApprovalPolicy
  readonly clock: Clock
  readonly random: RandomBytes
  readonly actor: string
  /** Undefined on the command line, which knows an account of the machine and no person: it cannot ask. */
  readonly operator: Pick<Operator, 'login'> | undefined
}

export type Outcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'waiting'; readonly request: ApprovalRequest }

export interface MoneyGiven {
  readonly currency: string
  readonly amountMinor: bigint
  readonly reason: string
  /** Whoever repeats it with one id moves the money once, and asks once. */
  readonly actId?: string | undefined
}

export type MoneyActs = ReturnType<typeof makeMoneyActs>

export function makeMoneyActs(parts: MoneyActsParts) {
  const { orders, wallets, funds, approvals, policy, clock, random, actor, operator } = parts

  return {
    async refund(
      key: OrderKey,
      given: { referRefundNo: string; amount: string; reason: string },
    ): Promise<Outcome<RefundAnswer>> {
      try {
        const limitMinor = (currency: string) => refundLimitMinor(policy, currency)
        return { kind: 'done', result: await orders.refundOrder(key, { ...given, limitMinor }) }
      } catch (error) {
        if (!(error instanceof RefundNeedsApproval)) throw error
        const { referRefundNo, reason } = given
        return ask({ kind: 'order.refund', ...key, referRefundNo, ...error.money }, { reason })
      }
    },

    /** What is left in the merchant's wallet afterwards. */
    async payOut(merchantId: string, given: MoneyGiven): Promise<Outcome<bigint>> {
      const { currency, amountMinor, reason, actId } = given
      const payout = { merchantId, currency, amountMinor }
      const way = await wayOf('merchant.payout', actId)
      if (way === 'do') return { kind: 'done', result: await funds.payOut(payout, reason, { actId }) }
      // Whoever asks again is told of the request, also when the money has left meanwhile because of it.
      if (way === 'ask') await funds.checkPayOut(payout)
      return ask({ kind: 'merchant.payout', ...payout }, { reason, actId })
    },

    /** By walletId or login. The wallet's id. */
    async topUp(wallet: string, given: MoneyGiven): Promise<Outcome<string>> {
      const { currency, amountMinor, reason, actId } = given
      if ((await wayOf('wallet.top-up', actId)) === 'do') {
        const { walletId } = await wallets.topUp({ wallet, currency, amountMinor, reason, actId })
        return { kind: 'done', result: walletId }
      }
      const { walletId } = (await wallets.showWallet(wallet)).wallet
      return ask({ kind: 'wallet.top-up', walletId, currency, amountMinor }, { reason, actId })
    },
  }

  /**
   * What was sent before stays what it became then, also when the setting was changed meanwhile: an act that was done
   * is not asked for, and one that was asked for is not done beside its request.
   */
  async function wayOf(
    kind: ApprovalPolicy['kinds'][number],
    actId: string | undefined,
  ): Promise<'do' | 'ask' | 'asked'> {
    if (actId !== undefined && (await approvals.findRequest(actId))) return 'asked'
    if (actId !== undefined && (await funds.isDone(actId))) return 'do'
    return policy.kinds.includes(kind) ? 'ask' : 'do'
  }

  async function ask(
    act: MoneyAct,
    { reason, actId }: { reason: string; actId?: string | undefined },
  ): Promise<{ kind: 'waiting'; request: ApprovalRequest }> {
    if (!operator)
      throw new Failure('not_allowed', {
        message:
          'This needs a second operator’s approval. Ask for it in the console or by the admin API, where it is known who asks.',
      })
    const nowMs = clock.now()
    const request: ApprovalRequest = {
      approvalId: actId ?? makeUuid(nowMs, random),
      act,
      reason,
      requestedBy: operator.login,
      requestedAs: actor,
      requestedAtMs: nowMs,
      expiresAtMs: nowMs + policy.lifeMs,
      status: 'waiting',
      decidedBy: undefined,
      decidedAs: undefined,
      decidedAtMs: undefined,
      decisionReason: undefined,
    }
    const isNew = await approvals.insertRequest(request, {
      auditId: makeUuid(nowMs, random),
      actedAtMs: nowMs,
      actor,
      act: 'approval.request',
      merchantId: act.kind === 'wallet.top-up' ? undefined : act.merchantId,
      subject: request.approvalId,
      reason: `${describeMoneyAct(act)}: ${reason}`,
    })
    return { kind: 'waiting', request: isNew ? request : await earlier(request) }
  }

  /** The same request, sent twice. */
  async function earlier({ approvalId, act, requestedBy }: ApprovalRequest): Promise<ApprovalRequest> {
    const found =
      act.kind === 'order.refund'
        ? await approvals.findByRefundNumber(act)
        : await approvals.findRequest(approvalId)
    if (found && isSameMoneyAct(found.act, act) && found.requestedBy === requestedBy) return found
    throw new Failure('number_already_used', {
      message: 'This number was already used for another request. Use a new one.',
    })
  }
}
