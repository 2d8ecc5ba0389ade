// One merchant: settings, keys, balances, payout, statement, and what operators did to it.
import { Failure, merchantIdPattern } from '@tillgate/protocol'
import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import { availableMinor } from '../../../ledger/rules/ledger.ts'
import type { Account } from '../../../ledger/store/ledger.ts'
import type { Merchant, MerchantKey } from '../../../merchants/rules/merchant.ts'
import type { ConsolePage, ConsoleRoute, Done, Download, Visit } from '../console.ts'
import { amountFields, foldedAct, moneyOf, movedNote, reasonOf, required } from '../forms.ts'
import { newKeyPage, settingsFields, settingsOf } from '../merchant-parts.ts'
import { state, status } from '../statuses.ts'
import { empty, facts, table } from '../tables.ts'
import { ago, amount, moment } from '../words.ts'
import { waitsFor } from './approvals.ts'
import { dayOf } from './orders.ts'

const path = '/merchants/:merchantId'
const dayMs = 86_400_000

export function merchantArea(running: () => OperatorService): readonly ConsoleRoute[] {
  const back = (visit: Visit) => pathOf(idOf(visit))
  const act = (
    name: string,
    work: (visit: Visit, form: URLSearchParams, merchantId: string) => Promise<Done>,
  ) => ({
    path: `${path}/${name}`,
    needs: 'admin' as const,
    back,
    act: (visit: Visit, form: URLSearchParams) => work(visit, form, idOf(visit)),
  })
  return [
    { path, show },
    { path: `${path}/statement.csv`, download },
    act('change', async (visit, form, merchantId) => {
      const settings = { name: required(form, 'name', 'the name'), ...settingsOf(form) }
      const { waiting } = await running()
        .merchantActs(visit)
        .changeMerchant(merchantId, settings, reasonOf(form))
      return {
        kind: 'go',
        to: pathOf(merchantId),
        note: `The settings are changed, everywhere within 5 seconds.${waiting ? ' The callback hosts are not yet: they wait for another operator’s approval.' : ''}`,
      }
    }),
    act('suspend', async ({ actor }, form, merchantId) => {
      await running().as(actor).merchants.suspendMerchant(merchantId, reasonOf(form))
      return {
        kind: 'go',
        to: pathOf(merchantId),
        note: 'The merchant is suspended: its requests are answered 40300 within 5 seconds.',
      }
    }),
    act('resume', async ({ actor }, form, merchantId) => {
      await running().as(actor).merchants.resumeMerchant(merchantId, reasonOf(form))
      return { kind: 'go', to: pathOf(merchantId), note: 'The merchant is active again.' }
    }),
    act('keys/aes', async (visit, form, merchantId) => {
      const outcome = await running().merchantActs(visit).addKey(merchantId, { kind: 'aes' }, reasonOf(form))
      if (outcome.kind === 'waiting') return waitsFor(outcome)
      const { secret } = outcome.result
      if (secret === undefined) throw new Error('an AES key that was made here is known here')
      return { kind: 'shown_once', page: await newKeyPage(running(), merchantId, secret) }
    }),
    act('keys/rsa', async (visit, form, merchantId) => {
      const publicKey = required(form, 'publicKey', 'the public key')
      const outcome = await running()
        .merchantActs(visit)
        .addKey(merchantId, { kind: 'rsa', publicKey }, reasonOf(form))
      if (outcome.kind === 'waiting') return waitsFor(outcome)
      return {
        kind: 'go',
        to: pathOf(merchantId),
        note: 'The public key is live. Revoke the old one when the merchant signs with the new one.',
      }
    }),
    act('keys/revoke', async ({ actor }, form, merchantId) => {
      const keyId = required(form, 'keyId')
      await running()
        .as(actor)
        .merchants.revokeKey({ merchantId, keyId, reason: reasonOf(form) })
      return {
        kind: 'go',
        to: pathOf(merchantId),
        note: 'The key is revoked: every gateway refuses it within 5 seconds.',
      }
    }),
    act('payout', async (visit, form, merchantId) => {
      await running().as(visit.actor).merchants.showMerchant(merchantId)
      const { apiTokens, moneyActs } = running()
      const given = await moneyOf(visit, form, { apiTokens, act: `merchant.payout ${merchantId}` })
      const outcome = await moneyActs(visit).payOut(merchantId, given)
      if (outcome.kind === 'waiting') return waitsFor(outcome)
      return {
        kind: 'go',
        to: pathOf(merchantId),
        note: movedNote(
          outcome,
          'The money is paid out: it left the merchant’s wallet for the funding account.',
        ),
      }
    }),
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
${mainActs(visit, merchant)}
<div class="grid"><section><h2>Settings</h2>${facts([
        ['merchantId', html`<code>${merchantId}</code>`],
        ['Requests a second', merchant.requestsPerSecond ?? 'the default'],
        ['Callback hosts', merchant.callbackHosts?.join(', ') ?? 'any'],
        ['Accent colour', merchant.accentColour ?? 'the default'],
        ['Since', moment(merchant.createdAtMs, nowMs)],
      ])}</section>
<section><h2>Balances</h2>${balances(accounts)}${payoutAct(visit, merchantId)}</section></div>
<h2>Keys</h2>${keyTable(visit, merchantId, keys)}${keyActs(visit, merchantId)}
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

function mainActs(visit: Visit, merchant: Merchant): Html {
  const isActive = merchant.status === 'active'
  return html`<div class="acts">${foldedAct(visit, {
    needs: 'admin',
    action: `${pathOf(merchant.merchantId)}/change`,
    label: 'Change…',
    explains: 'Changes apply everywhere within 5 seconds.',
    fields: settingsFields(merchant),
    button: 'Change',
    wantsReason: true,
  })}${foldedAct(visit, {
    needs: 'admin',
    action: `${pathOf(merchant.merchantId)}/${isActive ? 'suspend' : 'resume'}`,
    label: isActive ? 'Suspend…' : 'Resume…',
    explains: isActive
      ? 'Its requests are answered 40300 within 5 seconds, and its orders cannot be paid meanwhile. Nothing of it is lost.'
      : 'Its requests are served again within 5 seconds.',
    button: isActive ? 'Suspend the merchant' : 'Resume the merchant',
    isDangerous: isActive,
    wantsReason: true,
  })}</div>`
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

function payoutAct(visit: Visit, merchantId: string): Html {
  return html`<div class="acts">${foldedAct(visit, {
    needs: 'admin',
    action: `${pathOf(merchantId)}/payout`,
    label: 'Pay out…',
    explains: 'Money leaves the merchant’s wallet for the operator’s funding account.',
    fields: amountFields(visit),
    button: 'Pay out',
    isDangerous: true,
    wantsReason: true,
  })}</div>`
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
      revokedAtMs === undefined &&
        foldedAct(visit, {
          needs: 'admin',
          action: `${pathOf(merchantId)}/keys/revoke`,
          label: 'Revoke…',
          explains:
            'Every gateway refuses this key within 5 seconds. If it is the only one of its kind, the merchant can send nothing.',
          fields: html`<input type="hidden" name="keyId" value="${keyId}">`,
          button: 'Revoke the key',
          isDangerous: true,
          wantsReason: true,
        }),
    ]),
  )
}

function keyActs(visit: Visit, merchantId: string): Html {
  return html`<div class="acts">${foldedAct(visit, {
    needs: 'admin',
    action: `${pathOf(merchantId)}/keys/aes`,
    label: 'New AES key…',
    explains:
      'A key is made and shown once. The old one stays live beside it until you revoke it, so that nothing pauses.',
    button: 'Make the key',
    wantsReason: true,
  })}${foldedAct(visit, {
    needs: 'admin',
    action: `${pathOf(merchantId)}/keys/rsa`,
    label: 'New RSA public key…',
    explains: 'The merchant keeps the private half. The old key stays live beside it until you revoke it.',
    fields: html`<label>Public key, PEM or base64<textarea name="publicKey" required spellcheck="false"></textarea></label>`,
    button: 'Add the key',
    wantsReason: true,
  })}</div>`
}

function statementForm(merchantId: string, nowMs: number): Html {
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return html`<form class="filters" action="${pathOf(merchantId)}/statement.csv">
<label>From (UTC)<input type="date" name="from" value="${today.slice(0, 8)}01" max="${today}"></label>
<label>To, that day included<input type="date" name="to" value="${today}" max="${today}"></label>
<button>Download (CSV)</button></form>`
}
