// What moved on a wallet or on one of the operator's bank accounts, as a table: with the number by which a correction names
// a transfer.
import { type Html, html } from '../../http/html.ts'
import { accountKeyOf } from '../../ledger/rules/transfer.ts'
import type { Movement, MovementOwner } from '../../ledger/store/movements.ts'
import type { Visit } from './console.ts'
import { number, pages, table } from './tables.ts'
import { amount, moment } from './words.ts'

const perPage = 25

export async function movementsOf(visit: Visit, owner: MovementOwner, path: string): Promise<Html> {
  const { query, nowMs, service } = visit
  const before = Number(query.get('before') ?? Number.NaN)
  const beforeMs = Number.isSafeInteger(before) ? before : undefined
  const found = await service.listMovements(owner, { beforeMs, limit: perPage })
  const last = found.length === perPage ? found.at(-1)?.madeAtMs : undefined
  return html`<h2>Movements</h2>
${table(
  'Movements, the newest first',
  ['When', 'What', number('Amount'), 'Transfer', 'From or to', 'Reference'],
  found.map((movement) => [
    moment(movement.madeAtMs, nowMs),
    what(movement),
    amount(movement.amountMinor, movement.currency),
    html`<code>${movement.transferId}</code>`,
    other(movement),
    html`<span class="wrap">${movement.reference ?? '—'}</span>`,
  ]),
  { none: 'Nothing moved yet.' },
)}
${pages(path, query, { older: last === undefined ? undefined : String(last) })}`
}

function what({ kind, merchantId, paymentId }: Movement): Html | string {
  const words = kind.replaceAll('_', ' ')
  return paymentId === undefined ? words : html`<a href="/orders/${merchantId}/${paymentId}">${words}</a>`
}

const pagesOf = { wallet: '/wallets', merchant: '/merchants', bank: '/money/banks', rail: '/rails' } as const

function other({ otherAccountId }: Movement): Html {
  const { ownerKind, ownerId } = accountKeyOf(otherAccountId)
  const words = html`<span class="wrap">${ownerKind.replace('_', ' ')} ${ownerId}</span>`
  return ownerKind in pagesOf
    ? html`<a href="${pagesOf[ownerKind as keyof typeof pagesOf]}/${ownerId}">${words}</a>`
    : words
}
