// Every page, form and file of the portal as data: the source for routes.ts and for the test of all routes.
import type { Action } from '../../actions/action.ts'
import { actionScreens } from './action-screens.ts'
import { accountArea } from './areas/account.ts'
import { billsArea } from './areas/bills.ts'
import { callbacksArea } from './areas/callbacks.ts'
import { disputesArea } from './areas/disputes.ts'
import { endpointsArea } from './areas/endpoints.ts'
import { feesArea } from './areas/fees.ts'
import { homeArea } from './areas/home.ts'
import { keysArea } from './areas/keys.ts'
import { linksArea } from './areas/links.ts'
import { membersArea } from './areas/members.ts'
import { moneyArea } from './areas/money.ts'
import { ordersArea } from './areas/orders.ts'
import { payoutsArea } from './areas/payouts.ts'
import { requestsArea } from './areas/requests.ts'
import { settingsArea } from './areas/settings.ts'
import { transactionsArea } from './areas/transactions.ts'
import type { PortalRoute } from './portal.ts'

export function portalRoutes(catalog: readonly Action[]): readonly PortalRoute[] {
  return [
    ...homeArea,
    ...ordersArea,
    ...linksArea,
    ...moneyArea,
    ...transactionsArea,
    ...billsArea,
    ...payoutsArea,
    ...disputesArea,
    ...feesArea,
    ...keysArea,
    ...callbacksArea,
    ...endpointsArea,
    ...requestsArea,
    ...settingsArea,
    ...membersArea,
    ...accountArea,
    ...actionScreens(catalog),
  ]
}
