// Everything that operators may do, and merchants with their own, in the order in which the admin API's description and the command line name it.
import type { Act } from './action.ts'
import { makeApprovalActs } from './approvals/approval-actions.ts'
import { linkActs } from './consumers/link-actions.ts'
import { walletActs } from './consumers/wallet-actions.ts'
import { keyActs } from './merchants/key-actions.ts'
import { merchantActs } from './merchants/merchant-actions.ts'
import { platformKeyActs } from './merchants/platform-key-actions.ts'
import { callbackActs } from './orders/callback-actions.ts'
import { endpointActs } from './orders/endpoint-actions.ts'
import { eventActs } from './orders/event-actions.ts'
import { hostActs } from './orders/host-actions.ts'
import { orderActs } from './orders/order-actions.ts'
import { payoutActs } from './payouts/payout-actions.ts'
import { payoutPlanActs } from './payouts/payout-plan-actions.ts'
import { payoutRunActs } from './payouts/payout-run-actions.ts'
import { applicationActs } from './people/application-actions.ts'
import { noticeActs } from './people/email-actions.ts'
import { memberActs } from './people/member-actions.ts'
import { operatorActs } from './people/operator-actions.ts'
import { tokenActs } from './people/token-actions.ts'
import { railActs } from './rails/rail-actions.ts'
import { transferActs } from './rails/transfer-actions.ts'
import { breakActs } from './reconciliation/break-actions.ts'
import { dayActs } from './reconciliation/day-actions.ts'
import { statementActs } from './reconciliation/statement-actions.ts'
import { bankActs } from './treasury/bank-actions.ts'
import { billActs } from './treasury/bill-actions.ts'
import { bookActs } from './treasury/book-actions.ts'
import { correctionActs } from './treasury/correction-actions.ts'
import { ownMoneyActs } from './treasury/own-money-actions.ts'
import { priceActs } from './treasury/price-actions.ts'

export const catalogue: readonly Act[] = [
  ...orderActs,
  ...callbackActs,
  ...hostActs,
  ...endpointActs,
  ...eventActs,
  ...merchantActs,
  ...keyActs,
  ...memberActs,
  ...applicationActs,
  ...walletActs,
  ...linkActs,
  ...railActs,
  ...transferActs,
  ...bankActs,
  ...ownMoneyActs,
  ...priceActs,
  ...correctionActs,
  ...payoutPlanActs,
  ...payoutRunActs,
  ...payoutActs,
  ...statementActs,
  ...breakActs,
  ...dayActs,
  ...billActs,
  ...makeApprovalActs(findAct),
  ...bookActs,
  ...noticeActs,
  ...operatorActs,
  ...tokenActs,
  ...platformKeyActs,
]

/** An action by its name. Actions that may wait for approval have names of their own. */
export function findAct(name: string): Act | undefined {
  return catalogue.find((act) => act.name === name)
}
