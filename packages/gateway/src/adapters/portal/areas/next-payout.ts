// The next planned payout, as one of the figures on the home page and beside the balances.

import { availableMinor } from '../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../core/ledger/store/ledger.ts'
import { payableMinor } from '../../../finance/payouts/rules/payout-amount.ts'
import type { PayoutPlan } from '../../../finance/payouts/rules/payout-plan.ts'
import { type Html, html } from '../../kit/html.ts'
import { pathTo, type Visit } from '../portal.ts'

/** The first that is planned. Its amount is what would be paid now; a reserve that follows sales is left out. */
export function nextPayout(
  { language: { words, formats } }: Visit,
  plans: readonly PayoutPlan[],
  accounts: readonly Account[],
): Html {
  const [plan] = plans
    .filter(({ nextDay }) => nextDay !== undefined)
    .toSorted((a, b) => Date.parse(a.nextDay ?? '') - Date.parse(b.nextDay ?? ''))
  const label = html`<dt><a href="${pathTo('/payouts')}">${words.home.nextPayout}</a></dt>`
  if (plan?.nextDay === undefined)
    return html`<div>${label}<dd><span class="small quiet">${words.payouts.noPlan}</span></dd></div>`
  const { currency, leastMinor, reserve, schedule, nextDay } = plan
  const account = accounts.find((each) => each.currency === currency)
  const expected =
    account && reserve.shareBasisPoints === 0
      ? payableMinor({
          currency,
          availableMinor: availableMinor(account),
          keptMinor: reserve.fixedMinor,
          leastMinor,
        })
      : undefined
  const day = html`<time datetime="${nextDay}">${formats.day(Date.parse(nextDay))}</time>`
  return html`<div>${label}<dd>${expected === undefined ? day : formats.money(expected, currency)}<span class="small quiet">${
    expected === undefined ? currency : day
  } · ${words.payouts.schedules[schedule]}</span></dd></div>`
}
