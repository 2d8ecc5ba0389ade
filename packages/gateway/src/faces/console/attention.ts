// What somebody should look at now, each with the page that settles it; and a calm sentence where there is nothing.
import { toDecimalText } from '@tillgate/protocol'
import { countedAtMost } from '../../acts/service.ts'
import type { CallbackCounts } from '../../callbacks/store/callback-history.ts'
import { type Html, html } from '../../http/html.ts'
import { statusBadge } from '../../http/pages/status.ts'
import { postedMinor } from '../../ledger/rules/transfer.ts'
import { isFailing } from '../../rails/rules/outside-rail.ts'
import { noticesPath } from './areas/notices.ts'
import type { Visit } from './console.ts'
import { countUpTo } from './words.ts'

/** Older failures were seen, or nobody minds. */
const noticesSinceMs = 7 * 24 * 60 * 60_000

export async function attention(visit: Visit, callbacks: CallbackCounts): Promise<Html> {
  const { service, actor, nowMs } = visit
  const acts = service.as(actor)
  const [approvals, applications, runs, rails, suspense, notices, breaks] = await Promise.all([
    service.approvals.countWaiting(),
    acts.applications.countWaiting(),
    acts.payoutRuns.countToSend(),
    acts.rails.listRails(),
    service.suspenseAccounts(),
    service.countFailedNotices(nowMs - noticesSinceMs),
    acts.reconciliation.breaks.countOpen(),
  ])
  const late = suspense.filter((account) => postedMinor(account) !== 0n)
  const failing = rails.filter((rail) => rail.isPaused || isFailing(rail, nowMs))
  const upTo = (number: number) => countUpTo(number, countedAtMost)
  const needs = [
    callbacks.failingHosts > 0 &&
      need(
        'bad',
        `Callback hosts that fail: ${callbacks.failingHosts}, paused: ${callbacks.pausedHosts}`,
        '/callbacks',
      ),
    callbacks.exhausted > 0 &&
      need('bad', `Callbacks given up: ${upTo(callbacks.exhausted)}`, '/callbacks?state=exhausted'),
    approvals > 0 && need('wait', `Waiting for a second operator: ${approvals}`, '/approvals'),
    applications > 0 && need('wait', `Applications of merchants that wait: ${applications}`, '/applications'),
    runs > 0 && need('wait', `Payouts to be sent to the bank, in runs: ${runs}`, '/payouts'),
    late.length > 0 &&
      need(
        'bad',
        `Late money in suspense: ${late.map((each) => `${toDecimalText(postedMinor(each), each.currency)} ${each.currency}`).join(', ')}`,
        '/ledger',
      ),
    breaks.length > 0 &&
      need(
        'bad',
        `Breaks between statements and books: ${breaks.reduce((sum, each) => sum + each.breaks, 0)}`,
        '/reconciliation',
      ),
    ...failing.map(({ railId, name, isPaused }) =>
      need(isPaused ? 'wait' : 'bad', `Rail ${name} ${isPaused ? 'is paused' : 'fails'}`, `/rails/${railId}`),
    ),
    notices > 0 &&
      need(
        'bad',
        `Notices that could not be sent in the last week: ${upTo(notices)}`,
        `${noticesPath}?state=given_up`,
      ),
  ].filter((each) => each !== false)
  if (needs.length === 0) return html`<p class="quiet">${statusBadge('good', 'Nothing needs attention.')}</p>`
  return html`<section class="attention" aria-labelledby="attention"><h2 id="attention">Needs attention</h2><ul>${needs}</ul></section>`
}

function need(look: 'bad' | 'wait', text: string, path: string): Html {
  return html`<li><a href="${path}">${statusBadge(look, text)}</a></li>`
}
