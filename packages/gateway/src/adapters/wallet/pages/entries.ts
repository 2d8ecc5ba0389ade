// The rows of a history: who, what, when, how much, and whether it is still pending.

import { writtenPlace } from '../../../core/ledger/rules/transfer-place.ts'
import type { HistoryEntry } from '../../../core/wallets/store/history.ts'
import type { PendingEntry } from '../../../identity/consumers/store/pending-entries.ts'
import { initialOf } from '../../checkout/pages/shop.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { type IconName, icon } from '../../kit/icons.ts'
import { logoPath } from '../../kit/pages/logos.ts'
import { statusPill } from '../../kit/pages/status.ts'
import { prefix, type Visit } from '../wallet.ts'
import type { Words } from '../words.ts'

const withdrawalsLooked = 10

export function entryList(visit: Visit, entries: readonly HistoryEntry[]): Html {
  return html`<ul class="entries">${entries.map(
    (entry) => html`<li><a href="${prefix}/history/${writtenPlace(entry)}">${row(visit, entry)}</a></li>`,
  )}</ul>`
}

/** Undefined without entries. */
export async function pendingList(visit: Visit): Promise<Html | undefined> {
  const { wallet, operations } = visit
  const withdrawals = await operations.withdraw.list(wallet.walletId, withdrawalsLooked)
  const entries = [
    ...(await operations.listPendingEntries(wallet.walletId)),
    ...withdrawals
      .filter(({ status }) => status === 'requested' || status === 'sent')
      .map(({ amountMinor, currency, requestedAtMs }) => ({
        kind: 'payout' as const,
        merchantName: undefined,
        currency,
        amountMinor: -amountMinor,
        madeAtMs: requestedAtMs,
      })),
  ].sort((a, b) => b.madeAtMs - a.madeAtMs)
  if (entries.length === 0) return undefined
  const pill = statusPill('pending', visit.words.history.pending)
  return html`<ul class="entries">${entries.map((entry) => html`<li>${row(visit, entry, pill)}</li>`)}</ul>`
}

type Shown = Pick<HistoryEntry, 'kind' | 'merchantName' | 'amountMinor' | 'currency' | 'madeAtMs'> &
  Partial<Pick<HistoryEntry, 'merchantId' | 'logoHash'>>

function row(visit: Visit, entry: Shown | PendingEntry, pill?: Html): Html {
  const { formats } = visit.language
  const { amountMinor, currency, madeAtMs, merchantName } = entry
  const what = wordsFor(visit.words.history, entry.kind)
  const isIncoming = amountMinor > 0n
  return html`${picture(entry)}<span class="who"><bdi>${merchantName ?? what}</bdi><small class="quiet">${merchantName !== undefined && html`${what} · `}${dayOf(madeAtMs, formats)}</small></span><span class="sum"><span${!pill && isIncoming && html` class="good"`}>${isIncoming && '+'}${formats.money(amountMinor, currency)}</span>${pill}</span>`
}

/** The merchant's logo or initial; a symbol for money of the consumer's own. */
export function picture(
  entry: Pick<Shown, 'merchantName' | 'merchantId' | 'logoHash'> & Pick<Shown | PendingEntry, 'kind'>,
): Html {
  const { kind, merchantId, merchantName, logoHash } = entry
  if (merchantId !== undefined && logoHash !== undefined)
    return html`<img class="mark" src="${logoPath(merchantId, logoHash)}" alt="" width="40" height="40">`
  const content: Content =
    merchantName === undefined ? icon(iconOf[kind] ?? 'coins') : initialOf(merchantName)
  return html`<span class="mark" aria-hidden="true">${content}</span>`
}

const iconOf: Readonly<Partial<Record<HistoryEntry['kind'] | PendingEntry['kind'], IconName>>> = {
  top_up: 'plus',
  top_up_credit: 'plus',
  payout: 'landmark',
  payout_return: 'rotate-ccw',
}

export function wordsFor(said: Words['history'], kind: HistoryEntry['kind'] | PendingEntry['kind']): string {
  switch (kind) {
    case 'payment':
      return said.payment
    case 'held':
      return said.authorized
    case 'refund':
      return said.refund
    case 'top_up':
    case 'top_up_credit':
      return said.topUp
    case 'payout':
      return said.withdrawal
    case 'payout_return':
      return said.withdrawalReturned
    default:
      return said.correction
  }
}

function dayOf(timeMs: number, { day, time }: Visit['language']['formats']): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}" data-utc="${time(timeMs)}">${day(timeMs)}</time>`
}

export function timeOf(timeMs: number, text: string): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}">${text}</time>`
}
