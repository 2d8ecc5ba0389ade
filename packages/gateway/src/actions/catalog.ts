// Everything that operators and merchants' members may do, in the order of the admin API's description and the command
// line.
import type { Action } from './action.ts'
import { makeApprovalActions } from './approvals/approval-actions.ts'
import { linkActions } from './consumers/link-actions.ts'
import { walletActions } from './consumers/wallet-actions.ts'
import { keyActions } from './merchants/key-actions.ts'
import { merchantActions } from './merchants/merchant-actions.ts'
import { platformKeyActions } from './merchants/platform-key-actions.ts'
import { callbackActions } from './orders/callback-actions.ts'
import { disputeActions } from './orders/dispute-actions.ts'
import { endpointActions } from './orders/endpoint-actions.ts'
import { eventActions } from './orders/event-actions.ts'
import { hostActions } from './orders/host-actions.ts'
import { orderActions } from './orders/order-actions.ts'
import { payoutActions } from './payouts/payout-actions.ts'
import { payoutPlanActions } from './payouts/payout-plan-actions.ts'
import { payoutRunActions } from './payouts/payout-run-actions.ts'
import { applicationActions } from './people/application-actions.ts'
import { emailActions } from './people/email-actions.ts'
import { memberActions } from './people/member-actions.ts'
import { operatorActions } from './people/operator-actions.ts'
import { tokenActions } from './people/token-actions.ts'
import { railActions } from './rails/rail-actions.ts'
import { transferActions } from './rails/transfer-actions.ts'
import { breakActions } from './reconciliation/break-actions.ts'
import { dayActions } from './reconciliation/day-actions.ts'
import { selectedBreakActions } from './reconciliation/selected-breaks.ts'
import { statementActions } from './reconciliation/statement-actions.ts'
import { bankActions } from './treasury/bank-actions.ts'
import { billActions } from './treasury/bill-actions.ts'
import { bookActions } from './treasury/book-actions.ts'
import { correctionActions } from './treasury/correction-actions.ts'
import { ownMoneyActions } from './treasury/own-money-actions.ts'
import { priceActions } from './treasury/price-actions.ts'

export const catalog: readonly Action[] = [
  ...orderActions,
  ...disputeActions,
  ...callbackActions,
  ...hostActions,
  ...endpointActions,
  ...eventActions,
  ...merchantActions,
  ...keyActions,
  ...memberActions,
  ...applicationActions,
  ...walletActions,
  ...linkActions,
  ...railActions,
  ...transferActions,
  ...bankActions,
  ...ownMoneyActions,
  ...priceActions,
  ...correctionActions,
  ...payoutPlanActions,
  ...payoutRunActions,
  ...payoutActions,
  ...statementActions,
  ...breakActions,
  ...selectedBreakActions,
  ...dayActions,
  ...billActions,
  ...makeApprovalActions(findAction),
  ...bookActions,
  ...emailActions,
  ...operatorActions,
  ...tokenActions,
  ...platformKeyActions,
]

/** An action by its name. Actions that may wait for approval have unique names. */
export function findAction(name: string): Action | undefined {
  return catalog.find((action) => action.name === name)
}
