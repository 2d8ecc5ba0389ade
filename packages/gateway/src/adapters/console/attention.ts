// What an operator should look at now, each item with a link to the page that resolves it.
import { toDecimalText } from '@tillgate/protocol'
import { countedAtMost } from '../../actions/operations.ts'
import { shortAddressOf } from '../../core/callbacks/rules/destination.ts'
import type { CallbackCounts } from '../../core/callbacks/store/callback-history.ts'
import { postedMinor } from '../../core/ledger/rules/transfer.ts'
import { isFailing } from '../../finance/rails/rules/outside-rail.ts'
import { type Html, html } from '../kit/html.ts'
import { statusBadge } from '../kit/pages/status.ts'
import { emailsPath } from './areas/emails.ts'
import type { Visit } from './console.ts'
import { outcomeWord } from './statuses.ts'
import { count, countUpTo, duration } from './words.ts'

/** Older failures have been seen. */
const emailsSinceMs = 7 * 24 * 60 * 60_000

const disputeSoonMs = 3 * 24 * 60 * 60_000
const disputesLooked = 100
const refundsLooked = 100

/** These are listed by address; the rest is a count. */
const destinationsNamed = 3
/** Beyond this age, callbacks wait for a destination, or the workers are too slow. */
const lateAfterMs = 60_000

export async function attention(visit: Visit, callbacks: CallbackCounts): Promise<Html> {
  const { operations, context, nowMs } = visit
  const [
    destinations,
    approvals,
    applications,
    runs,
    rails,
    suspense,
    emails,
    breaks,
    backup,
    disputes,
    refunds,
  ] = await Promise.all([
    operations.callbacks.listFailingDestinations(context, { limit: destinationsNamed }),
    operations.approvals.countWaiting(),
    operations.applications.countWaiting(context),
    operations.payoutRuns.countToSend(context),
    operations.rails.listRails(context),
    operations.listSuspenseAccounts(context),
    operations.countFailedEmails(context, nowMs - emailsSinceMs),
    operations.reconciliation.breaks.countOpen(context),
    operations.backup(context, nowMs),
    operations.disputes.listDisputes(context, { isOpen: true, isByDeadline: true, limit: disputesLooked }),
    operations.corrections.listRefundsToSend(context, refundsLooked),
  ])
  const urgent = disputes.filter(
    ({ respondByMs, response }) =>
      !response && respondByMs !== undefined && respondByMs > nowMs && respondByMs < nowMs + disputeSoonMs,
  )
  const late = suspense.filter((account) => postedMinor(account) !== 0n)
  const failing = rails.filter((rail) => rail.isPaused || isFailing(rail, nowMs))
  const needs = [
    ...destinations.map(({ url, failures, reason }) =>
      need(
        'bad',
        `Callbacks to ${shortAddressOf(url)} are failing: ${outcomeWord(reason)}, ${count(failures)} times in a row`,
        '/callbacks',
      ),
    ),
    ...callbackNeeds(callbacks, nowMs),
    approvals > 0 && need('wait', `Requests waiting for approval: ${approvals}`, '/approvals'),
    applications > 0 && need('wait', `Merchant applications to review: ${applications}`, '/applications'),
    urgent.length > 0 &&
      need(
        'wait',
        `Disputes to answer within 3 days: ${countUpTo(urgent.length, disputesLooked)}`,
        '/disputes',
      ),
    refunds.length > 0 &&
      need(
        'wait',
        `Refunds to send by bank transfer: ${countUpTo(refunds.length, refundsLooked)}`,
        '/money/corrections',
      ),
    runs > 0 && need('wait', `Payout runs to send: ${runs}`, '/payouts'),
    late.length > 0 &&
      need(
        'bad',
        `Money in suspense: ${late.map((each) => `${toDecimalText(postedMinor(each), each.currency)} ${each.currency}`).join(', ')}`,
        '/money/corrections',
      ),
    breaks.length > 0 &&
      need(
        'bad',
        `Open reconciliation breaks: ${breaks.reduce((sum, each) => sum + each.breaks, 0)}`,
        '/reconciliation',
      ),
    ...failing.map(({ railId, name, isPaused }) =>
      need(
        isPaused ? 'wait' : 'bad',
        `Rail ${name} ${isPaused ? 'is paused' : 'is failing'}`,
        `/rails/${railId}`,
      ),
    ),
    emails > 0 &&
      need('bad', `Emails that failed in the last 7 days: ${upTo(emails)}`, `${emailsPath}?state=given_up`),
    backup.isOverdue &&
      need(
        'bad',
        backup.lastAtMs === undefined
          ? 'No backup has been recorded'
          : `The last backup is ${duration(nowMs - backup.lastAtMs)} old`,
        '/system',
      ),
  ].filter((each) => each !== false)
  if (needs.length === 0) return html`<p class="quiet">${statusBadge('good', 'Nothing needs attention')}</p>`
  return html`<section class="attention" aria-labelledby="attention"><h2 id="attention">Needs attention</h2><ul>${needs}</ul></section>`
}

function callbackNeeds(callbacks: CallbackCounts, nowMs: number) {
  return [
    callbacks.failingDestinations > destinationsNamed &&
      need('bad', `Failing callback destinations: ${upTo(callbacks.failingDestinations)}`, '/callbacks'),
    callbacks.oldestDueAtMs !== undefined &&
      nowMs - callbacks.oldestDueAtMs > lateAfterMs &&
      need(
        'bad',
        `Late callbacks. The oldest is ${duration(nowMs - callbacks.oldestDueAtMs)} late`,
        '/callbacks?state=waiting',
      ),
    callbacks.failingHosts > 0 &&
      need(
        'bad',
        `Unreachable callback hosts: ${callbacks.failingHosts}${callbacks.pausedHosts > 0 ? ` (${callbacks.pausedHosts} paused)` : ''}`,
        '/callbacks',
      ),
    callbacks.exhausted > 0 &&
      need('bad', `Undelivered callbacks: ${upTo(callbacks.exhausted)}`, '/callbacks?state=exhausted'),
  ]
}

function upTo(number: number): string {
  return countUpTo(number, countedAtMost)
}

function need(look: 'bad' | 'wait', text: string, path: string): Html {
  return html`<li><a href="${path}">${statusBadge(look, text)}</a></li>`
}
