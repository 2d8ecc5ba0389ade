// Price lists; append-only.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { Price, PriceScope, Terms } from '../../../core/orders/fees/rules/price.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'

export type PriceStore = ReturnType<typeof makePriceStore>

export function makePriceStore(database: Pool) {
  return {
    /** False if the same scope already has a price from this time. */
    insertPrice: (price: Price, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertPrice(transaction, price)),
    listSince: (createdAtMs: number) => listSince(database, createdAtMs),
    /** Newest first; prices for this merchant or for all. */
    listPrices: (merchantId: string | undefined, limit: number) => listPrices(database, merchantId, limit),
  }
}

type StoredPrice = Omit<Price, 'terms' | keyof PriceScope> & {
  readonly merchantId: string
  readonly railId: string
  readonly currency: string
} & { readonly [Name in keyof Terms]: Terms[Name] | undefined }

const shape = rowShape<StoredPrice>('price', {
  priceId: 'price_id',
  merchantId: "nullif(merchant_id, '')",
  railId: "nullif(rail_id, '')",
  currency: "nullif(currency, '')",
  validFromMs: number('valid_from'),
  fixedMinor: bigint('fixed_minor'),
  basisPoints: number('basis_points'),
  leastMinor: bigint('least_minor'),
  mostMinor: bigint('most_minor'),
  returnsFee: 'returns_fee',
  createdAtMs: number('created_at'),
})

async function insertPrice(transaction: Queryable, price: Price): Promise<boolean> {
  const { priceId, merchantId = '', railId = '', currency = '', validFromMs, terms, createdAtMs } = price
  const { rowCount } = await transaction.query(sql`
insert into prices (price_id, merchant_id, rail_id, currency, valid_from, fixed_minor, basis_points, least_minor,
                    most_minor, returns_fee, created_at)
values (${priceId}, ${merchantId}, ${railId}, ${currency}, ${validFromMs}, ${terms?.fixedMinor.toString()},
        ${terms?.basisPoints}, ${terms?.leastMinor?.toString()}, ${terms?.mostMinor?.toString()},
        ${terms?.returnsFee}, ${createdAtMs})
    on conflict do nothing`)
  return rowCount === 1
}

/** Uses prices_created. */
async function listSince(database: Queryable, createdAtMs: number): Promise<Price[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from prices where created_at >= ${createdAtMs}`)
  return rows.map(toPrice)
}

async function listPrices(
  database: Queryable,
  merchantId: string | undefined,
  limit: number,
): Promise<Price[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from prices
 where ${merchantId}::text is null or merchant_id in ('', ${merchantId})
 order by valid_from desc, price_id desc
 limit ${limit}`)
  return rows.map(toPrice)
}

function toPrice(row: Readonly<Record<string, unknown>>): Price {
  const { fixedMinor, basisPoints, leastMinor, mostMinor, returnsFee, ...price } = shape.read(row)
  const isEnded = fixedMinor === undefined || basisPoints === undefined || returnsFee === undefined
  return {
    ...price,
    terms: isEnded ? undefined : { fixedMinor, basisPoints, leastMinor, mostMinor, returnsFee },
  }
}
