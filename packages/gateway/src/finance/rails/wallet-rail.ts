// The built-in rail: the money is in a wallet on this ledger and is held there already, so there is nobody left to ask.
import type { Rail } from '../../core/orders/payments/rules/rail.ts'

export const walletRail: Rail = {
  authorise: async () => ({ kind: 'approved' }),
  refund: async () => ({ kind: 'approved' }),
}
