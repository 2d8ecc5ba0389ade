// The one way by which operators refund, top up and correct: what may be done at once is done, and what wants a second
// operator becomes a request. The console, the admin API and the command line all come through here.
import type { RefundAnswer } from '@tillgate/protocol'
import { type AskApprovalParts, makeAskApproval, type Outcome } from '../operators/ask-approval.ts'
import { type ApprovalPolicy, asOf, refundLimitMinor } from '../operators/rules/approval.ts'
import { type ManageOrders, RefundNeedsApproval } from '../orders/manage-orders.ts'
import type { OrderKey } from '../orders/rules/order.ts'
import type { ManageWallets } from '../wallets/manage-wallets.ts'
import type { CorrectBooks } from './correct-books.ts'
import type { MoveFunds } from './move-funds.ts'
import type { Outside } from './rules/bank-account.ts'
import type { Correction } from './rules/correction.ts'

export interface MoneyActsParts extends AskApprovalParts {
  readonly orders: ManageOrders
  readonly wallets: ManageWallets
  readonly funds: MoveFunds
  readonly corrections: CorrectBooks
}

export interface MoneyGiven {
  readonly currency: string
  readonly amountMinor: bigint
  readonly reason: string
  /** The main bank account unless given. */
  readonly outside?: Outside | undefined
  /** Whoever repeats it with one id moves the money once, and asks once. */
  readonly actId?: string | undefined
}

export type MoneyActs = ReturnType<typeof makeMoneyActs>

export function makeMoneyActs(parts: MoneyActsParts) {
  const { orders, wallets, funds, corrections, approvals, policy, clock } = parts
  const ask = makeAskApproval(parts)

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

    /** By walletId or login. The wallet's id. */
    async topUp(wallet: string, given: MoneyGiven): Promise<Outcome<string>> {
      const { currency, amountMinor, reason, outside, actId } = given
      const { way, ...before } = await wayOf('wallet.top-up', actId)
      if (way === 'do') {
        const { walletId } = await wallets.topUp({ wallet, currency, amountMinor, reason, outside, actId })
        return { kind: 'done', result: walletId, ...before }
      }
      const { walletId } = (await wallets.showWallet(wallet)).wallet
      return ask({ kind: 'wallet.top-up', walletId, currency, amountMinor, outside }, { reason, actId })
    },

    /** The number of its act. */
    async correct(
      correction: Correction,
      { reason, actId }: { readonly reason: string; readonly actId?: string | undefined },
    ): Promise<Outcome<string>> {
      const { way, ...before } = await wayOf('correction', actId)
      if (way === 'do')
        return { kind: 'done', result: await corrections.correct(correction, reason, { actId }), ...before }
      if (way === 'ask') await corrections.checkCorrection(correction)
      const { currency, amountMinor } = correction
      return ask({ kind: 'correction', currency, amountMinor, correction }, { reason, actId })
    },

    /** What became of the correction that was sent under this id; undefined: none was. */
    async findSent(actId: string | undefined): Promise<Outcome<string> | undefined> {
      if (actId === undefined) return undefined
      const request = await approvals.findRequest(actId)
      if (request) return { kind: 'waiting', request: asOf(request, clock.now()) }
      const doneBeforeMs = await funds.doneAt(actId)
      return doneBeforeMs === undefined ? undefined : { kind: 'done', result: actId, doneBeforeMs }
    },
  }

  /**
   * What was sent before stays what it became then, also when the setting was changed meanwhile: an act that was done
   * is not asked for, and one that was asked for is not done beside its request.
   */
  async function wayOf(
    kind: ApprovalPolicy['kinds'][number],
    actId: string | undefined,
  ): Promise<{ way: 'do' | 'ask' | 'asked'; doneBeforeMs?: number }> {
    if (actId !== undefined && (await approvals.findRequest(actId))) return { way: 'asked' }
    const doneBeforeMs = actId === undefined ? undefined : await funds.doneAt(actId)
    if (doneBeforeMs !== undefined) return { way: 'do', doneBeforeMs }
    return { way: policy.kinds.includes(kind) ? 'ask' : 'do' }
  }
}
