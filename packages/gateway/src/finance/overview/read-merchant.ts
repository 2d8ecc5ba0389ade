// Data for one merchant's pages, from stores that reach this merchant only.
import type { MerchantContext } from '../../core/authority/context.ts'
import type { CallbackHistory } from '../../core/callbacks/store/callback-history.ts'
import type { MerchantStatementStore, StatementRange } from '../../core/ledger/store/merchant-statements.ts'
import { streamStatement } from '../../core/ledger/write-statement.ts'
import { bindWithin } from '../../core/merchants/within.ts'
import type { RequestFilter, RequestLogStore } from '../../platform/request-log/store/request-log.ts'
import type { BillStore } from '../bills/store/bills.ts'
import type { PayoutPlanStore } from '../payouts/store/payout-plans.ts'
import type { PayoutStore } from '../payouts/store/payouts.ts'
import type { PriceStore } from '../treasury/store/prices.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import type { MerchantFigureStore } from './store/merchant-figures.ts'

interface Parts {
  readonly stores: {
    readonly treasury: Pick<TreasuryStore, 'listAccounts'>
    readonly merchantFigures: MerchantFigureStore
    readonly callbackHistory: Pick<CallbackHistory, 'healthOf'>
    readonly requestLog: Pick<RequestLogStore, 'list'>
    readonly statements: MerchantStatementStore
    readonly bills: BillStore
    readonly payouts: Pick<PayoutStore, 'listPayouts' | 'findPayout'>
    readonly payoutPlans: Pick<PayoutPlanStore, 'listPlans'>
    readonly priceLists: Pick<PriceStore, 'listPrices'>
  }
}

interface Page {
  readonly before?: string | undefined
  readonly limit: number
}

type Of = MerchantContext

const maxPrices = 10_000

export type ReadMerchant = ReturnType<typeof makeReadMerchant>

export function makeReadMerchant(parts: Parts) {
  return bindWithin(parts, {
    listAccounts: ({ stores }: Parts, { merchantId }: Of) =>
      stores.treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId }),
    tallyOrders: (
      { stores }: Parts,
      { merchantId }: Of,
      steps: { readonly sinceMs: number; readonly stepMs: number },
    ) => stores.merchantFigures.tallyOrders({ merchantId, ...steps }),
    countAttention: ({ stores }: Parts, { merchantId }: Of, sinceMs: number) =>
      stores.merchantFigures.countAttention({ merchantId, sinceMs }),
    callbackHealth: ({ stores }: Parts, { merchantId }: Of) => stores.callbackHistory.healthOf(merchantId),
    /** Only requests that were verified to be this merchant's. */
    listRequests: (
      { stores }: Parts,
      { merchantId }: Of,
      filter: Pick<RequestFilter, 'requestId' | 'method' | 'code'>,
      page: Parameters<RequestLogStore['list']>[1],
    ) => stores.requestLog.list({ ...filter, merchantId, isOpened: true }, page),
    statement: ({ stores }: Parts, { merchantId }: Of, range: Omit<StatementRange, 'merchantId'>) =>
      streamStatement(stores.statements, { ...range, merchantId }),
    listLatest: (
      { stores }: Parts,
      { merchantId }: Of,
      page: Parameters<MerchantStatementStore['listLatest']>[1],
    ) => stores.statements.listLatest(merchantId, page),
    listBills: ({ stores }: Parts, { merchantId }: Of, page: Page) =>
      stores.bills.listBills(merchantId, page),
    findBill,
    billedFees: ({ stores }: Parts, { merchantId }: Of, since: string) =>
      stores.bills.sumFees(merchantId, since),
    listPayouts: ({ stores }: Parts, { merchantId }: Of, page: Page) =>
      stores.payouts.listPayouts({ merchantId }, page),
    findPayout: ({ stores }: Parts, { merchantId }: Of, payoutId: string) =>
      stores.payouts.findPayout({ merchantId, payoutId }),
    listPayoutPlans: ({ stores }: Parts, { merchantId }: Of) => stores.payoutPlans.listPlans(merchantId),
    /** Prices for this merchant and for all merchants. */
    listPrices: ({ stores }: Parts, { merchantId }: Of) =>
      stores.priceLists.listPrices(merchantId, maxPrices),
  })
}

async function findBill(
  { stores: { bills } }: Parts,
  { merchantId }: Of,
  day: string,
): Promise<AsyncIterable<string> | undefined> {
  const key = { merchantId, day }
  return (await bills.findBill(key)) && bills.readParts(key)
}
