// One merchant: settings, balances, keys, webhook endpoints, members, and the newest audit entries.
import { merchantIdPattern } from '@tillgate/protocol'
import type { KeyOfMerchant } from '../../../actions/merchants/key-actions.ts'
import { nextStepOf } from '../../../actions/merchants/key-rotation.ts'
import { fingerprintOf } from '../../../core/merchants/key-fingerprint.ts'
import type { ShownKey } from '../../../core/merchants/manage-merchants.ts'
import { rotationOf } from '../../../core/merchants/rules/key-use.ts'
import type { Merchant } from '../../../core/merchants/rules/merchant.ts'
import type { ManageMembers } from '../../../identity/members/manage-members.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { auditTable } from '../audit-entries.ts'
import { balanceTable } from '../balances.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { ago, capitalized, moment } from '../words.ts'
import { endpointTable } from './endpoints.ts'

const path = '/merchants/:merchantId'

export const merchantArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage | undefined> {
  const { merchantId = '' } = visit.params
  const found = await find(visit)
  if (!found) return undefined
  const { merchant, keys } = found
  const [people, endpoints, accounts, acts] = await Promise.all([
    visit.operations.members.listMembers(visit.context, merchantId),
    visit.operations.endpoints.listEndpoints(visit.context, merchantId),
    visit.operations.listMerchantAccounts(visit.context, merchantId),
    visit.operations.listAuditEntries(visit.context, { merchantId }, { limit: 10 }),
  ])
  const { nowMs } = visit
  return {
    title: merchant.name,
    area: 'merchants',
    beside: actionForms(visit, 'merchant', { subject: merchant, values: settingsOf(merchant) }),
    content: html`<p>${status(merchant.status)} · <a href="/orders?merchant=${merchantId}">Orders</a> · <a href="/callbacks?merchant=${merchantId}">Callbacks</a> · <a href="/merchants/${merchantId}/money">Money, fees and statement</a> · <a href="/links?merchant=${merchantId}">Payment links</a> · <a href="/merchants/${merchantId}/payouts">Payouts</a> · <a href="/merchants/${merchantId}/bills">Bills</a></p>
<div class="grid"><section><h2>Settings</h2>${facts([
      ['Merchant ID', html`<code>${merchantId}</code>`],
      ['Requests per second', merchant.requestsPerSecond ?? 'Default'],
      ['Callback hosts', merchant.callbackHosts?.join(', ') ?? 'Any'],
      ['Default callback URL', merchant.defaultCallbackUrl ?? 'None'],
      ['Checkout color', merchant.accentColour ?? 'Default'],
      ['Contact emails', merchant.contactEmails?.join(', ') ?? 'None'],
      ['Created', moment(merchant.createdAtMs, nowMs)],
    ])}</section>
<section><h2>Balances</h2>${balanceTable(accounts, { held: 'Pending refunds and payouts', none: 'No balance yet.' })}${actionForms(visit, 'merchant.money', { values: { merchantId } })}</section></div>
<h2>Keys</h2>${keyTable(visit, merchantId, keys)}${rotationSteps(keys, nowMs)}${actionForms(visit, 'merchant.keys', { values: { merchantId } })}
<h2>Webhook endpoints</h2>${endpointTable(endpoints, nowMs)}${actionForms(visit, 'merchant.endpoints', { values: { merchantId } })}
<h2>Members</h2>${memberTable(visit, merchantId, people)}${actionForms(visit, 'merchant.members', { values: { merchantId } })}
<h2>Audit log</h2>${await auditTable(visit, acts, 'No audit entries yet.')}<p class="acts"><a class="button" href="/audit?merchant=${merchantId}">View all</a></p>`,
  }
}

async function find({ operations, context, params: { merchantId = '' } }: Visit) {
  if (!merchantIdPattern.test(merchantId)) return undefined
  return orNothing(operations.merchants.showMerchant(context, merchantId))
}

/** The values of the form. */
function settingsOf(merchant: Merchant) {
  const { merchantId, name, requestsPerSecond, callbackHosts, accentColour, defaultCallbackUrl } = merchant
  return {
    merchantId,
    name,
    requestsPerSecond: requestsPerSecond?.toString(),
    callbackHosts: callbackHosts?.join(', '),
    accentColour,
    defaultCallbackUrl,
    contactEmails: merchant.contactEmails?.join(', '),
    contactLanguage: merchant.contactLanguage,
  }
}

function keyTable(visit: Visit, merchantId: string, keys: readonly ShownKey[]): Html {
  const { nowMs } = visit
  return table(
    'Keys',
    ['Type', 'Status', 'Key', 'Created', 'Last request', 'Actions'],
    keys.map((key) => [
      key.kind.toUpperCase(),
      html`${key.revokedAtMs === undefined ? statusBadge('good', 'Active') : statusBadge('off', 'Revoked')}${key.sealsCallbacks && html` ${statusBadge('good', 'Encrypts callbacks')}`}`,
      html`<code>${key.keyId}</code>${key.kind === 'rsa' && html`<details class="more"><summary>SHA-256</summary><code class="wrap">${fingerprintOf(key.publicKey)}</code></details>`}`,
      ago(key.createdAtMs, nowMs),
      key.usedAtMs === undefined ? 'Never' : ago(key.usedAtMs, nowMs),
      key.revokedAtMs === undefined &&
        actionForms(visit, 'key', {
          subject: { key, keys, nowMs } satisfies KeyOfMerchant,
          values: { merchantId, keyId: key.keyId },
        }),
    ]),
    { none: 'No keys yet. Without keys, the merchant cannot send requests.' },
  )
}

function rotationSteps(keys: readonly ShownKey[], nowMs: number): Html[] {
  return (['aes', 'rsa'] as const).flatMap((kind) => {
    const rotation = rotationOf(keys, kind, nowMs)
    return rotation
      ? [html`<p>${kind.toUpperCase()} key rotation in progress. Next step: ${nextStepOf(rotation)}</p>`]
      : []
  })
}

function memberTable(
  visit: Visit,
  merchantId: string,
  { members, invitations }: Awaited<ReturnType<ManageMembers['listMembers']>>,
): Html {
  return table(
    'Members',
    ['Email', 'Role', 'Sign-in', 'Since', 'Actions'],
    [
      ...members.map((each) => [
        each.login,
        capitalized(each.role),
        !each.hasPassword
          ? 'Identity provider'
          : each.hasSecondStep
            ? 'Two-step verification'
            : 'Password only',
        ago(each.createdAtMs, visit.nowMs),
        actionForms(visit, 'member', { subject: each, values: { merchantId, login: each.login } }),
      ]),
      ...invitations.map((each) => [
        each.login,
        capitalized(each.role ?? '—'),
        'Invited',
        ago(each.createdAtMs, visit.nowMs),
        actionForms(visit, 'invitation', { values: { merchantId, linkId: each.linkId } }),
      ]),
    ],
    { none: 'No members yet. Invite the owner to give the merchant access to the portal.' },
  )
}
