// Finds references of banks, rails and merchants by prefix: payments, bank transfers, payers, payouts, runs, and
// merchants' contacts. Each search has its own index.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { rowShape } from '../../../platform/database/row-shape.ts'
import { type Sql, sql } from '../../../platform/database/sql.ts'

export interface FoundOrder {
  readonly merchantId: string
  readonly paymentId: string
  readonly text: string
}

export interface FoundPayout {
  readonly merchantId: string
  readonly payoutId: string
  readonly reference: string | undefined
}

export interface FoundRun {
  readonly runId: string
  readonly reference: string | undefined
}

export interface FoundContact {
  readonly merchantId: string
  readonly name: string
  readonly text: string
}

export interface Found {
  readonly orders: readonly FoundOrder[]
  readonly payouts: readonly FoundPayout[]
  readonly runs: readonly FoundRun[]
  readonly contacts: readonly FoundContact[]
}

const atMost = 10
/** Shorter text matches too much. */
const minLength = 3

export type SearchBooks = (text: string) => Promise<Found>

export function makeSearchBooks(database: Pool): SearchBooks {
  return async (text) => {
    if (text.length < minLength) return { orders: [], payouts: [], runs: [], contacts: [] }
    const [orders, payouts, runs, contacts] = await Promise.all([
      findOrders(database, text),
      findPayouts(database, text),
      findRuns(database, text),
      findContacts(database, text),
    ])
    return { orders, payouts, runs, contacts }
  }
}

interface OrderRow {
  readonly merchant_id: string
  readonly payment_id: string
  readonly text: string
}

/** Creditor references are often written in groups of four. Distributed and local tables are read separately. */
async function findOrders(database: Queryable, text: string): Promise<FoundOrder[]> {
  const reference = text.replace(/\s/g, '').toUpperCase()
  const { rows: attempts } = await database.query<OrderRow>(sql`
select merchant_id, payment_id, reference as text
  from rail_attempts
 where reference is not null and ${begins(sql`upper(reference)`, reference)} limit ${atMost}`)
  const { rows: entries } = await database.query<OrderRow>(sql`
(select merchant_id, payment_id, outside_reference as text
   from transfer_entries where ${begins(sql`upper(outside_reference)`, text.toUpperCase())} limit ${atMost})
 union all
(select merchant_id, payment_id, party
   from transfer_entries where party is not null and ${begins(sql`lower(party)`, text.toLowerCase())} limit ${atMost})`)
  const found = new Map([...attempts, ...entries].map((row) => [row.payment_id, row]))
  return [...found.values()]
    .slice(0, atMost)
    .map(({ merchant_id: merchantId, payment_id: paymentId, text: as }) => ({
      merchantId,
      paymentId,
      text: as,
    }))
}

const payoutShape = rowShape<FoundPayout>('payout', {
  merchantId: 'merchant_id',
  payoutId: 'payout_id',
  reference: 'reference',
})

async function findPayouts(database: Queryable, text: string): Promise<FoundPayout[]> {
  const upper = text.toUpperCase()
  const { rows } = await database.query(sql`
select distinct on (payout_id) ${payoutShape.columns}
  from ((select merchant_id, payout_id, reference from payouts
          where payout_id >= ${upper} and payout_id < ${`${upper}~`} limit ${atMost})
         union all
        (select merchant_id, payout_id, reference from payouts
          where reference is not null and ${begins(sql`upper(reference)`, upper)} limit ${atMost})) as f
 order by payout_id
 limit ${atMost}`)
  return rows.map(payoutShape.read)
}

const runShape = rowShape<FoundRun>('run', { runId: 'run_id', reference: 'reference' })
const runLength = 32

/** A payment file contains the run's id without dashes. */
async function findRuns(database: Queryable, text: string): Promise<FoundRun[]> {
  const digits = text.replaceAll('-', '').toLowerCase()
  const isId = /^[0-9a-f]{6,32}$/.test(digits)
  const byId = isId
    ? sql`run_id between ${digits.padEnd(runLength, '0')}::uuid and ${digits.padEnd(runLength, 'f')}::uuid or `
    : sql``
  const { rows } = await database.query(sql`
select ${runShape.columns} from payout_runs
 where ${byId}(reference is not null and ${begins(sql`upper(reference)`, text.toUpperCase())})
 order by run_id desc
 limit ${atMost}`)
  return rows.map(runShape.read)
}

async function findContacts(database: Queryable, text: string): Promise<FoundContact[]> {
  const lower = text.toLowerCase()
  const begun = (column: Sql) => sql`left(lower(${column}), ${lower.length}) = ${lower}`
  const { rows: members } = await database.query<{ merchant_id: string; text: string }>(sql`
select merchant_id, login as text from members where ${begun(sql`login`)} order by login limit ${atMost}`)
  const { rows } = await database.query<{ merchant_id: string; name: string; text: string | null }>(sql`
select merchant_id, name, (select min(e) from unnest(contact_emails) as e where ${begun(sql`e`)}) as text
  from merchants
 where merchant_id = any (${members.map(({ merchant_id }) => merchant_id)})
    or exists (select 1 from unnest(contact_emails) as e where ${begun(sql`e`)})
 order by name, merchant_id
 limit ${atMost}`)
  return rows.map(({ merchant_id: merchantId, name, text: contact }) => {
    const member = members.find((each) => each.merchant_id === merchantId)
    return { merchantId, name, text: contact ?? member?.text ?? '' }
  })
}

/** Uses an index with text_pattern_ops, which works in any collation. */
function begins(column: Sql, prefix: string): Sql {
  return sql`${column} ~>=~ ${prefix} and ${column} ~<~ ${`${prefix}\u{10ffff}`}`
}
