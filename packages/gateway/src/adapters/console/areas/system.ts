// This gateway's version, database, and background jobs, with the age of the oldest overdue work.

import { countedAtMost } from '../../../actions/operations.ts'
import { html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts } from '../../kit/pages/tables.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { count, countUpTo, duration, moment } from '../words.ts'
import { emailsPath } from './emails.ts'
import { requestsPath } from './requests.ts'

/** Beyond this age, a worker is too slow or not running. */
const lateAfterMs = 60_000

export const systemArea: readonly ConsoleRoute[] = [{ path: '/system', show }]

async function show({ nowMs, operations, context }: Visit): Promise<ConsolePage> {
  const [system, callbacks, backup] = await Promise.all([
    operations.system(context, nowMs),
    operations.countCallbacks(context, nowMs),
    operations.backup(context, nowMs),
  ])
  const { about, state: of } = system
  const work = (waiting: number | undefined, oldestAtMs: number | undefined) => {
    const lateMs = oldestAtMs === undefined ? 0 : nowMs - oldestAtMs
    const said = waiting === undefined ? '' : `${countUpTo(waiting, countedAtMost)} waiting, `
    if (lateMs <= 0) return html`${said}${statusBadge('good', 'On time')}`
    const look = lateMs > lateAfterMs ? 'bad' : 'wait'
    return html`${said}${statusBadge(look, `${duration(lateMs)} late`)}`
  }
  return {
    title: 'System',
    area: 'system',
    isLive: true,
    content: html`<div class="grid">
<section><h2>Gateway</h2>${facts([
      ['Version', about.version],
      ['Mode', about.mode],
      ['Node.js', about.node],
      ['Process', about.pid],
      ['Uptime', duration(about.upMs)],
      ['Memory', `${count(Math.round(about.memoryBytes / 1024 / 1024))} MiB`],
      ['Public address', about.publicUrl],
    ])}</section>
<section><h2>Database</h2>${facts([
      ['PostgreSQL', of.databaseVersion],
      ['Size', `${count(Math.round(of.databaseBytes / 1024 / 1024))} MiB`],
      ['Migrations', of.migrations],
      ['Last backup', backup.lastAtMs === undefined ? 'None recorded' : moment(backup.lastAtMs, nowMs)],
      ['Connections', `${of.pool.total}, ${of.pool.idle} idle`],
      ['Waiting for a connection', of.pool.waiting],
    ])}</section>
<section><h2>Workers</h2>${facts([
      ['Callback delivery', work(callbacks.waiting, callbacks.oldestDueAtMs)],
      ['Payments and refunds', work(of.authorizationsWaiting, of.oldestAuthorizationDueAtMs)],
      ['Order expiry', work(undefined, of.oldestExpiryAtMs)],
      [
        'Callback destinations',
        `${countUpTo(callbacks.failingDestinations, countedAtMost)} failing, ${countUpTo(callbacks.pausedDestinations, countedAtMost)} paused`,
      ],
      ['Callback hosts', `${callbacks.failingHosts} failing, ${callbacks.pausedHosts} paused`],
      ['Undelivered callbacks', countUpTo(callbacks.exhausted, countedAtMost)],
    ])}</section>
<section><h2>Requests</h2><p><a href="${requestsPath}">Rejected and slow requests</a>, by requestId or merchant.</p></section>
<section><h2>Emails</h2><p><a href="${emailsPath}">Sent and failed emails</a></p></section>
<section><h2>Clock</h2>${facts([['Now', moment(nowMs, nowMs)]])}</section>
</div>`,
  }
}
