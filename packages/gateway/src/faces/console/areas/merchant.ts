// One merchant: settings, keys, balances, payout, statement, and what operators did to it.
import { Failure, merchantIdPattern } from '@tillgate/protocol'
import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import { availableMinor } from '../../../ledger/rules/ledger.ts'
import type { Account } from '../../../ledger/store/ledger.ts'
import type { Merchant, MerchantKey } from '../../../merchants/rules/merchant.ts'
import { actForms } from '../act-forms.ts'
import type { ConsolePage, ConsoleRoute, Download, Visit } from '../console.ts'
import { state, status } from '../statuses.ts'
import { empty, facts, table } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'
import { dayOf } from './orders.ts'

const path = '/merchants/:merchantId'
const dayMs = 86_400_000

export function merchantArea(running: () => OperatorService): readonly ConsoleRoute[] {
  return [
    { path, show },
    { path: `${path}/statement.csv`, download },
  ]

  async function show(visit: Visit): Promise<ConsolePage | undefined> {
    const merchantId = idOf(visit)
    const found = await find(visit, merchantId)
    if (!found) return undefined
    const { merchant, keys } = found
    const [accounts, acts] = await Promise.all([
      running().merchantAccounts(merchantId),
      running().audit.listActs({ merchantId }, { limit: 10 }),
    ])
    const { nowMs } = visit
    return {
      title: merchant.name,
      area: 'merchants',
      content: html`<p>${status(merchant.status)} · <a href="/orders?merchant=${merchantId}">Orders</a> · <a href="/callbacks?merchant=${merchantId}">Callbacks</a></p>
${actForms(visit, 'merchant', { subject: merchant, values: settingsOf(merchant) })}
<div class="grid"><section><h2>Settings</h2>${facts([
        ['merchantId', html`<code>${merchantId}</code>`],
        ['Requests a second', merchant.requestsPerSecond ?? 'the default'],
        ['Callback hosts', merchant.callbackHosts?.join(', ') ?? 'any'],
        ['Accent colour', merchant.accentColour ?? 'the default'],
        ['Since', moment(merchant.createdAtMs, nowMs)],
      ])}</section>
<section><h2>Balances</h2>${balances(accounts)}${actForms(visit, 'merchant.money', { values: { merchantId } })}</section></div>
<h2>Keys</h2>${keyTable(visit, merchantId, keys)}${actForms(visit, 'merchant.keys', { values: { merchantId } })}
<h2>Statement</h2>${statementForm(merchantId, nowMs)}
<h2>What operators did</h2>${
        acts.length === 0
          ? empty('Nothing yet.')
          : table(
              'Acts, the newest first',
              ['When', 'Who', 'What', 'Reason'],
              acts.map((each) => [
                ago(each.actedAtMs, nowMs),
                each.actor,
                each.act,
                html`<span class="wrap">${each.reason ?? '—'}</span>`,
              ]),
            )
      }<p class="acts"><a class="button" href="/audit?merchant=${merchantId}">All of them</a></p>`,
    }
  }

  async function find(visit: Visit, merchantId: string) {
    if (!merchantIdPattern.test(merchantId)) return undefined
    return running()
      .as(visit.actor)
      .merchants.showMerchant(merchantId)
      .catch((error: unknown) => {
        if (error instanceof Failure && error.failure === 'not_found') return undefined
        throw error
      })
  }

  async function download(visit: Visit): Promise<Download | undefined> {
    const merchantId = idOf(visit)
    if (!(await find(visit, merchantId))) return undefined
    const fromMs = dayOf(visit.query.get('from')) ?? 0
    const toMs = (dayOf(visit.query.get('to')) ?? visit.nowMs) + dayMs
    return {
      fileName: `statement-${merchantId}.csv`,
      type: 'text/csv; charset=utf-8',
      content: running().statement({ merchantId, fromMs, toMs: Math.max(fromMs, toMs) }),
    }
  }
}

function idOf({ params }: Visit): string {
  return params['merchantId'] ?? ''
}

function pathOf(merchantId: string): string {
  return `/merchants/${encodeURIComponent(merchantId)}`
}

/** As the form shows them. */
function settingsOf({ merchantId, name, requestsPerSecond, callbackHosts, accentColour }: Merchant) {
  return {
    merchantId,
    name,
    requestsPerSecond: requestsPerSecond?.toString(),
    callbackHosts: callbackHosts?.join(', '),
    accentColour,
  }
}

function balances(accounts: readonly Account[]): Html {
  if (accounts.length === 0) return empty('No money yet.')
  return table(
    'Balances',
    ['Currency', { head: 'Available', isNumber: true }, { head: 'Held for refunds', isNumber: true }],
    accounts.map((account) => [
      account.currency,
      amount(availableMinor(account), account.currency),
      amount(account.debitsPendingMinor, account.currency),
    ]),
  )
}

function keyTable(visit: Visit, merchantId: string, keys: readonly MerchantKey[]): Html {
  if (keys.length === 0) return empty('No keys yet: the merchant cannot send requests.')
  return table(
    'Keys',
    ['Kind', 'Status', 'Key', 'Made', 'Act'],
    keys.map(({ keyId, kind, createdAtMs, revokedAtMs }) => [
      kind.toUpperCase(),
      revokedAtMs === undefined ? state('good', 'live') : state('off', 'revoked'),
      html`<code>${keyId}</code>`,
      ago(createdAtMs, visit.nowMs),
      revokedAtMs === undefined && actForms(visit, 'key', { values: { merchantId, keyId } }),
    ]),
  )
}

function statementForm(merchantId: string, nowMs: number): Html {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return html`<form class="filters" action="${pathOf(merchantId)}/statement.csv">
<label>From (UTC)<input type="date" name="from" value="${today.slice(0, 8)}01" max="${today}"></label>
<label>To, that day included<input type="date" name="to" value="${today}" max="${today}"></label>
<button>Download (CSV)</button></form>`
}
