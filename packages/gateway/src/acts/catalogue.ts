// Everything that operators may do, and merchants with their own, in the order in which the admin API's description and the command line name it.
import type { Act } from './act.ts'
import { approvalActs } from './approval-acts.ts'
import { bookActs } from './book-acts.ts'
import { callbackActs } from './callback-acts.ts'
import { linkActs } from './consumers/link-acts.ts'
import { walletActs } from './consumers/wallet-acts.ts'
import { endpointActs } from './endpoint-acts.ts'
import { eventActs } from './event-acts.ts'
import { hostActs } from './host-acts.ts'
import { keyActs } from './key-acts.ts'
import { merchantActs } from './merchant-acts.ts'
import { orderActs } from './order-acts.ts'
import { payoutActs } from './payouts/payout-acts.ts'
import { payoutPlanActs } from './payouts/payout-plan-acts.ts'
import { payoutRunActs } from './payouts/payout-run-acts.ts'
import { applicationActs } from './people/application-acts.ts'
import { memberActs } from './people/member-acts.ts'
import { noticeActs } from './people/notice-acts.ts'
import { operatorActs } from './people/operator-acts.ts'
import { tokenActs } from './people/token-acts.ts'
import { platformKeyActs } from './platform-key-acts.ts'
import { railActs } from './rail-acts.ts'
import { breakActs } from './reconciliation/break-acts.ts'
import { dayActs } from './reconciliation/day-acts.ts'
import { statementActs } from './reconciliation/statement-acts.ts'
import { transferActs } from './transfer-acts.ts'
import { bankActs } from './treasury/bank-acts.ts'
import { billActs } from './treasury/bill-acts.ts'
import { correctionActs } from './treasury/correction-acts.ts'
import { priceActs } from './treasury/price-acts.ts'

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
  ...priceActs,
  ...correctionActs,
  ...payoutPlanActs,
  ...payoutRunActs,
  ...payoutActs,
  ...statementActs,
  ...breakActs,
  ...dayActs,
  ...billActs,
  ...approvalActs,
  ...bookActs,
  ...noticeActs,
  ...operatorActs,
  ...tokenActs,
  ...platformKeyActs,
]
