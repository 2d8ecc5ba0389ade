// The ledger accounts behind an outside account: the one of its name, and for a bank account also the bank transfer
// rails with the same IBAN. A rail's own includes what it withholds for disputes.
import type { Queryable } from '../../../platform/database/pool.ts'
import { sql } from '../../../platform/database/sql.ts'

export interface OutsideAccount {
  /** `bank:main` or `rail:card`. */
  readonly account: string
  readonly iban: string | undefined
  /** For accounts without an IBAN. */
  readonly number: string | undefined
  /** Undefined: any. */
  readonly currency: string | undefined
  /** Ledger account ids without currencies. */
  readonly owners: readonly string[]
  readonly bankName: string | undefined
  /** Bank transfer rails that pay into this account. */
  readonly transferRails: readonly string[]
  /** A rail that is called over the network. */
  readonly railId: string | undefined
  /** Transfers of opening balances and their reversals, which are compared with balances instead of lines. */
  readonly openings: readonly string[]
}

export async function listOutsideAccounts(database: Queryable): Promise<OutsideAccount[]> {
  const { rows } = await database.query<{
    kind: string
    name: string
    iban: string | null
    number: string | null
    currency: string | null
    is_transfer: boolean
    openings: string[]
  }>(sql`
select 'bank' as kind, bank_name as name, iban, lines[1] as number, currency, false as is_transfer,
       array(select transfer_id from bank_openings o where o.bank_name = b.bank_name) as openings
  from bank_accounts b
 union all
select 'rail', rail_id, account->>'iban', account->'lines'->0->>'value', null, account is not null, '{}' from rails
 order by 1, 2`)
  const transfers = rows.filter((row) => row.is_transfer)
  const banks = rows.filter(({ kind }) => kind === 'bank')
  return rows.map(({ kind, name, iban, number, currency, is_transfer, openings }): OutsideAccount => {
    const account = `${kind}:${name}`
    const shared = kind === 'bank' && iban !== null ? transfers.filter((rail) => rail.iban === iban) : []
    // Of two bank accounts with one IBAN, the first has the rails.
    const isFirst = banks.find((bank) => bank.iban === iban)?.name === name
    const rails = isFirst ? shared.map((rail) => rail.name) : []
    return {
      account,
      iban: iban ?? undefined,
      number: iban === null ? (number ?? undefined) : undefined,
      currency: currency ?? undefined,
      owners: [
        account,
        ...rails.map((rail) => `rail:${rail}`),
        ...(kind === 'rail' && !is_transfer ? [`disputes:${name}`] : []),
      ],
      bankName: kind === 'bank' ? name : undefined,
      transferRails: is_transfer ? [name] : rails,
      railId: kind === 'rail' && !is_transfer ? name : undefined,
      openings,
    }
  })
}

export async function ownersOf(database: Queryable, account: string): Promise<readonly string[]> {
  return (await listOutsideAccounts(database)).find((each) => each.account === account)?.owners ?? [account]
}
