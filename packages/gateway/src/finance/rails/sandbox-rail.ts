// The sandbox's rail. Its response depends only on the test wallet and the time, so repeated questions change
// nothing.

import type { Rail, RailAnswer } from '../../core/orders/payments/rules/rail.ts'
import type { Behaviour } from '../../core/wallets/rules/wallet.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

export interface SandboxRailParts {
  /** Undefined for a regular wallet, which pays as on the built-in rail. */
  readonly behaviourOf: (walletId: string) => Promise<Behaviour | undefined>
  readonly clock: Clock
}

export const confirmsAfterMs = 5_000
/** When a payment that stays undecided is checked again. */
const lookAgainMs = 60 * 60 * 1000

export function makeSandboxRail({ behaviourOf, clock }: SandboxRailParts): Rail {
  return {
    async authorise({ walletId, submittedAtMs }): Promise<RailAnswer> {
      switch (await behaviourOf(walletId)) {
        case 'declines':
          return { kind: 'declined', reason: 'The wallet declined the payment.' }
        case 'confirms_later': {
          const leftMs = submittedAtMs + confirmsAfterMs - clock.now()
          return leftMs > 0 ? { kind: 'later', checkAfterMs: leftMs } : { kind: 'approved' }
        }
        case 'stays_confirming':
          return { kind: 'later', checkAfterMs: lookAgainMs }
        default:
          return { kind: 'approved' }
      }
    },
    async refund({ walletId }): Promise<RailAnswer> {
      return (await behaviourOf(walletId)) === 'refund_fails'
        ? { kind: 'declined', reason: 'The wallet does not accept the refund.' }
        : { kind: 'approved' }
    },
  }
}
