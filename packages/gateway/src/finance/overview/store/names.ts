// The names of what audit entries are about, so that people read names instead of IDs. One statement reads the local
// tables; each distributed table has its own.
import {
  linkIdPattern,
  merchantIdPattern,
  paymentIdPattern,
  transactionIdPattern,
  uuidPattern,
} from '@tillgate/protocol'
import type { Pool } from '../../../platform/database/pool.ts'
import { plainSql, type Sql, sql, unionAll } from '../../../platform/database/sql.ts'

export interface Named {
  readonly kind: NamedKind
  readonly name: string
  /** If it belongs to one. */
  readonly merchantId: string | undefined
}

/** Keyed by ID, and for people by login. */
export type Names = ReadonlyMap<string, Named>

interface Source {
  readonly kind: string
  readonly from: string
  readonly id: string
  readonly type: 'text' | 'uuid'
  readonly name: string
  readonly ids: RegExp
  readonly place: 'local' | 'spread'
  /** Its key starts with the merchant. */
  readonly isOfMerchant?: true
}

const local = { type: 'uuid', ids: uuidPattern, place: 'local' } as const
const spread = { type: 'text', place: 'spread', isOfMerchant: true } as const
const login = { type: 'text', ids: /./, place: 'local', id: 'login' } as const
const sources = [
  { ...login, kind: 'operator', from: 'operators', name: 'coalesce(name, login)' },
  { ...login, kind: 'member', from: 'member_accounts', name: 'coalesce(name, login)' },
  { ...local, kind: 'wallet', from: 'wallets', id: 'wallet_id', type: 'text', name: 'name' },
  { ...local, kind: 'rail', from: 'rails', id: 'rail_id', type: 'text', ids: /^[a-z]/, name: 'name' },
  { ...local, kind: 'application', from: 'applications', id: 'application_id', name: 'business' },
  { ...local, kind: 'import', from: 'statement_imports', id: 'import_id', name: 'file_name' },
  { ...local, kind: 'token', from: 'api_tokens', id: 'token_id', name: 'name' },
  { ...local, kind: 'approval', from: 'approvals', id: 'approval_id', name: 'action' },
  { ...local, kind: 'run', from: 'payout_runs', id: 'run_id', name: "'Payout run'" },
  { ...local, kind: 'break', from: 'reconciliation_breaks', id: 'break_id', name: "account || ', ' || day" },
  {
    ...local,
    kind: 'endpoint',
    from: 'callback_endpoints',
    id: 'endpoint_id',
    type: 'text',
    name: 'url',
    isOfMerchant: true,
  },
  { ...spread, kind: 'merchant', from: 'merchants', id: 'merchant_id', ids: merchantIdPattern, name: 'name' },
  { ...spread, kind: 'order', from: 'orders', id: 'payment_id', ids: paymentIdPattern, name: 'order_no' },
  { ...spread, kind: 'link', from: 'payment_links', id: 'link_id', ids: linkIdPattern, name: 'title' },
  {
    ...spread,
    kind: 'payout',
    from: 'payouts',
    id: 'payout_id',
    ids: transactionIdPattern,
    name: 'payout_id',
  },
  {
    ...spread,
    kind: 'key',
    from: 'merchant_keys',
    id: 'key_id',
    ids: uuidPattern,
    name: "upper(kind) || ' key'",
  },
] as const satisfies readonly Source[]

export type NamedKind = (typeof sources)[number]['kind']
export type ReadNames = (ids: readonly string[]) => Promise<Names>

/** `ids` also names the merchants that the other things belong to. */
export function makeReadNames(database: Pool): ReadNames {
  return async (ids) => {
    const known = [...new Set(ids)]
    const merchants = known.filter((each) => merchantIdPattern.test(each))
    const selects = sources.flatMap((source) => {
      const wanted = known.filter((id) => source.ids.test(id))
      if (wanted.length === 0 || ('isOfMerchant' in source && merchants.length === 0)) return []
      return { place: source.place, select: select(source, wanted, merchants) }
    })
    const ofLocal = selects.filter(({ place }) => place === 'local').map((each) => each.select)
    const ofSpread = selects.filter(({ place }) => place === 'spread').map((each) => each.select)
    const statements = [...(ofLocal.length > 0 ? [unionAll(ofLocal)] : []), ...ofSpread]
    const found = await Promise.all(statements.map((statement) => database.query<Row>(statement)))
    return new Map(
      found.flatMap(({ rows }) =>
        rows.map(({ kind, id, name, merchant_id: merchantId }) => [
          id,
          { kind, name, merchantId: merchantId ?? undefined },
        ]),
      ),
    )
  }
}

interface Row {
  readonly kind: NamedKind
  readonly id: string
  readonly name: string
  readonly merchant_id: string | null
}

function select(
  { kind, from, id, type, name, isOfMerchant }: Source,
  ids: readonly string[],
  merchants: readonly string[],
): Sql {
  const merchant = plainSql(isOfMerchant ? 'merchant_id' : 'null')
  return sql`select ${plainSql(`'${kind}'`)} as kind, ${plainSql(`${id}::text`)} as id, ${plainSql(name)} as name, ${merchant} as merchant_id
  from ${plainSql(from)}
 where ${plainSql(id)} = any (${ids}::${plainSql(type)}[])${isOfMerchant ? sql` and merchant_id = any (${merchants}::text[])` : sql``}`
}
