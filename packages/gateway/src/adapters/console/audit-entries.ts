// Audit entries in words: who, what, and the thing by its name with a link to its page.
import { merchantIdPattern, uuidPattern } from '@tillgate/protocol'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import type { Named, NamedKind, Names } from '../../finance/overview/store/names.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { table } from '../kit/pages/tables.ts'
import { wordsOfAction } from './audit-words.ts'
import type { Visit } from './console.ts'
import { exact } from './words.ts'

export async function auditTable(
  { operations, context }: Pick<Visit, 'operations' | 'context'>,
  entries: readonly AuditEntry[],
  none: Content,
): Promise<Html> {
  const names = await operations.readNames(
    context,
    entries.flatMap(({ actor, subject, merchantId }) =>
      [subject, readActor(actor).login, merchantId ?? []].flat(),
    ),
  )
  return table(
    'Audit entries, newest first',
    ['Time', 'Who', 'Action', 'Object', 'Reason'],
    entries.map((entry) => [
      html`<time datetime="${new Date(entry.actedAtMs).toISOString()}">${exact(entry.actedAtMs)}</time>`,
      actorCell(entry.actor, names),
      html`<span title="${entry.action}">${wordsOfAction(entry.action)}</span>`,
      objectCell(entry, names),
      html`<span class="wrap">${entry.reason ?? '—'}</span>`,
    ]),
    { none },
  )
}

interface ReadActor {
  /** A login of a person, or the name of a part of the gateway. */
  readonly login: string
  readonly by: string
}

const doors: Readonly<Record<string, string>> = { console: 'console', member: 'portal', api: 'API' }

/** `console:ann@::1`, `api:ann/token@::1`, `member:ann@shop.example@::1`, or a part of the gateway. */
function readActor(actor: string): ReadActor {
  const [, door = '', login = '', token, address = ''] =
    /^(console|member|api):([^/]+?)(?:\/([^@]*))?@([^@]*)$/.exec(actor) ?? []
  return login === ''
    ? { login: actor, by: '' }
    : { login, by: [doors[door], token, address].filter(Boolean).join(' · ') }
}

/** The login first, because people choose their own names, and can choose another person's. */
export function actorCell(actor: string, names: Names): Html {
  const { login, by } = readActor(actor)
  const name = names.get(login)?.name ?? login
  const beside = [name === login ? '' : name, by].filter(Boolean).join(' · ')
  return html`<span class="wrap">${login}</span>${beside !== '' && html`<br><span class="quiet small wrap">${beside}</span>`}`
}

/** The people of requests for approval. */
export function loginOf(actor: string): string {
  return readActor(actor).login
}

const pageOf: Readonly<Partial<Record<NamedKind, (id: string, merchantId: string | undefined) => string>>> = {
  merchant: (id) => `/merchants/${id}`,
  wallet: (id) => `/wallets/${id}`,
  rail: (id) => `/rails/${id}`,
  break: (id) => `/reconciliation/breaks/${id}`,
  run: (id) => `/payouts/${id}`,
  order: (id, merchantId) => `/orders/${merchantId}/${id}`,
  link: (id, merchantId) => `/links/${merchantId}/${id}`,
  payout: (id, merchantId) => `/merchants/${merchantId}/payouts/${id}`,
  endpoint: (id, merchantId) => `/merchants/${merchantId}/endpoints/${id}`,
}

/** The thing, and below it the merchant that it belongs to. */
function objectCell({ subject, merchantId }: AuditEntry, names: Names): Html {
  const merchant = merchantId === undefined || merchantId === subject ? undefined : names.get(merchantId)
  return html`${nameOf(subject, names.get(subject))}${
    merchant &&
    html`<br><span class="small under"><a href="/merchants/${merchantId}"><bdi>${merchant.name}</bdi></a></span>`
  }`
}

/** IDs without a name, such as those of deleted things, are shortened. */
function nameOf(id: string, named: Named | undefined): Html {
  if (named?.kind === 'approval')
    return html`<a href="/approvals?status=all">${wordsOfAction(named.name)}</a>`
  if (named?.kind === 'operator' || named?.kind === 'member')
    return html`<span class="wrap">${id}${named.name !== id && ` (${named.name})`}</span>`
  const page = named && pageOf[named.kind]?.(id, named.merchantId)
  const text = html`<span class="wrap"${named && html` title="${id}"`}>${named?.name ?? shortened(id)}</span>`
  return page === undefined ? text : html`<a href="${page}">${text}</a>`
}

function shortened(id: string): Content {
  return uuidPattern.test(id) || merchantIdPattern.test(id)
    ? html`<code title="${id}">${id.slice(0, 8)}…</code>`
    : id
}
