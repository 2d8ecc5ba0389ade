// The fake's balance: its collections, fees and automatic payouts.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { PaidOut } from '../../kit/test/fake-provider.ts'

interface Entry {
  readonly id: string
  readonly created: number
  readonly type: 'charge' | 'refund' | 'adjustment' | 'stripe_fee' | 'payout'
  readonly amount: number
  readonly fee: number
  readonly currency: string
  readonly source: { readonly object: string; readonly id: string; readonly payment_intent?: string } | null
  payout?: string
}

/** Stripe’s list parameters, from the declarations of the pinned SDK. */
const resources = join(createRequire(import.meta.url).resolve('stripe'), '../resources')
const parametersOf = (file: string, name: string) => {
  const [, body = ''] =
    new RegExp(`interface ${name} extends PaginationParams \\{([\\s\\S]*?)\\n\\}`).exec(
      readFileSync(join(resources, file), 'utf8'),
    ) ?? []
  const own = [...body.matchAll(/^ {4}(\w+)\?:/gm)].map(([, field = '']) => field)
  if (own.length === 0) throw new Error(`the SDK declares no ${name}`)
  return new Set([...own, 'limit', 'starting_after', 'ending_before'])
}
const allowed = {
  payouts: parametersOf('Payouts.d.ts', 'PayoutListParams'),
  balance_transactions: parametersOf('BalanceTransactions.d.ts', 'BalanceTransactionListParams'),
}

export function makeFakeBalance(nowSeconds: () => number) {
  const entries: Entry[] = []
  const payouts: { id: string; created: number; amount: number; currency: string }[] = []
  function add(given: Omit<Entry, 'id' | 'created'>): Entry {
    const entry = { id: `txn_${entries.length + 1}`, created: nowSeconds(), ...given }
    entries.push(entry)
    return entry
  }

  function list<Item extends { id: string }>(
    all: readonly Item[],
    query: URLSearchParams,
    shown: (item: Item) => object,
  ) {
    const after = query.get('starting_after')
    const newest = all.toReversed()
    const start = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1
    // A small page, so that the reader must turn it.
    const data = newest.slice(start, start + 2).map(shown)
    return { object: 'list', url: '/v1/list', has_more: start + 2 < newest.length, data }
  }

  return {
    collect: (intentId: string, amount: number, currency: string) =>
      void add({
        type: 'charge',
        amount,
        fee: 25 + Math.round(amount * 0.015),
        currency,
        source: { object: 'charge', id: `ch_${intentId}`, payment_intent: intentId },
      }),
    giveBack: (refundId: string, amount: number, currency: string) =>
      void add({
        type: 'refund',
        amount: -amount,
        fee: 0,
        currency,
        source: { object: 'refund', id: refundId },
      }),

    /** What a dispute withdraws, or reinstates. */
    dispute: (id: string, amount: number, fee: number, currency: string) =>
      add({ type: 'adjustment', amount, fee, currency, source: { object: 'dispute', id } }),

    /** Includes a fee without a payment. */
    payOut(): PaidOut {
      const open = entries.filter(({ payout }) => payout === undefined)
      const currency = open[0]?.currency ?? 'eur'
      add({ type: 'stripe_fee', amount: -200, fee: 0, currency, source: null })
      const paid = entries.filter(({ payout }) => payout === undefined)
      const fee = 200 + open.reduce((sum, each) => sum + each.fee, 0)
      const net = paid.reduce((sum, each) => sum + each.amount - each.fee, 0)
      const id = `po_${payouts.length + 1}`
      payouts.push({ id, created: nowSeconds(), amount: net, currency })
      add({ type: 'payout', amount: -net, fee: 0, currency, source: { object: 'payout', id } })
      for (const each of entries) each.payout ??= id
      return { batch: id, netMinor: BigInt(net), feeMinor: BigInt(fee) }
    },

    answer(collection: 'payouts' | 'balance_transactions', query: URLSearchParams): object {
      for (const name of query.keys()) {
        const field = name.replace(/\[.*/, '')
        if (!allowed[collection].has(field)) throw new Error(`Stripe has no parameter ${name}`)
      }
      if (collection === 'payouts')
        return list(
          payouts.filter(
            ({ created }) =>
              created >= Number(query.get('created[gte]')) && created < Number(query.get('created[lt]')),
          ),
          query,
          (payout) => ({
            object: 'payout',
            ...payout,
            automatic: true,
            status: 'paid',
            reconciliation_status: 'completed',
          }),
        )
      const isExpanded = [...query.values()].includes('data.source')
      return list(
        entries.filter(({ payout }) => payout === query.get('payout')),
        query,
        ({ payout: _, source, ...entry }) => ({
          object: 'balance_transaction',
          ...entry,
          net: entry.amount - entry.fee,
          source: isExpanded ? source : (source?.id ?? null),
        }),
      )
    },
  }
}
