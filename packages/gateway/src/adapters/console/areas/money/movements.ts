// Transactions of a wallet or of one of the operator's bank accounts, with the transfer ID that a correction names.

import { mayAct } from '../../../../core/authority/rules/roles.ts'
import { accountKeyOf } from '../../../../core/ledger/rules/transfer.ts'
import { placeOf, writtenPlace } from '../../../../core/ledger/rules/transfer-place.ts'
import type { Movement, MovementOwner } from '../../../../core/ledger/store/movements.ts'
import { correctableKinds } from '../../../../finance/treasury/rules/correction.ts'
import { type Html, html } from '../../../kit/html.ts'
import { number, pages, table } from '../../../kit/pages/tables.ts'
import type { Visit } from '../../console.ts'
import { amount, bankReference, moment } from '../../words.ts'

const perPage = 25
/** A wallet's ID is too long for the table and is shown on its page. */
const maxOwner = 32

export async function movementsOf(visit: Visit, owner: MovementOwner, path: string): Promise<Html> {
  const { query, nowMs, operations, context } = visit
  const before = placeOf(query.get('before') ?? '')
  const found = await operations.listMovements(context, owner, { before, limit: perPage + 1 })
  const shown = found.slice(0, perPage)
  const last = found.length > perPage ? shown.at(-1) : undefined
  return html`<h2>Transactions</h2>
${table(
  'Transactions, newest first',
  ['Time', 'Type', number('Amount'), 'Transfer ID', 'From or to', 'Reference', 'Actions'],
  shown.map((movement) => [
    moment(movement.madeAtMs, nowMs),
    what(movement),
    amount(movement.amountMinor, movement.currency),
    html`<code>${movement.transferId}</code>`,
    other(movement),
    reference(movement),
    reversal(visit, movement),
  ]),
  { none: 'No transactions yet.' },
)}
${pages(path, query, { older: last && writtenPlace(last) })}`
}

function what({ kind, merchantId, paymentId }: Movement): Html | string {
  const words = kind.replaceAll('_', ' ')
  return paymentId === undefined ? words : html`<a href="/orders/${merchantId}/${paymentId}">${words}</a>`
}

/** The form of corrections with this transfer, where it can be reversed. */
function reversal({ account }: Visit, { kind, transferId, merchantId }: Movement): Html | string {
  const kinds: readonly string[] = correctableKinds.reverse
  if (!kinds.includes(kind) || !mayAct(account.role, 'admin')) return '—'
  const fields = new URLSearchParams({
    open: 'correction.reverse',
    transferId,
    ...(merchantId && { merchantId }),
  })
  return html`<a href="/money/corrections?${fields.toString()}">Reverse</a>`
}

/** A transfer without its own reference stores its ID there. */
function reference({ reference: given, transferId }: Movement): Html | string {
  return given === undefined || given === transferId ? '—' : bankReference(given)
}

const pagesOf = { wallet: '/wallets', merchant: '/merchants', bank: '/money/banks', rail: '/rails' } as const

function other({ otherAccountId }: Movement): Html {
  const { ownerKind, ownerId } = accountKeyOf(otherAccountId)
  const words = `${ownerKind.replace('_', ' ')} ${ownerId.length > maxOwner ? `${ownerId.slice(0, 8)}…` : ownerId}`
  // Safe: it is one of its keys.
  return ownerKind in pagesOf
    ? html`<a href="${pagesOf[ownerKind as keyof typeof pagesOf]}/${ownerId}">${words}</a>`
    : html`${words}`
}
