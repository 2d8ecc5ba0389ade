// Transfers of a wallet or bank account, newest first, in pages.
import type { Pool } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { plainSql, sql } from '../../../platform/database/sql.ts'
import { type AccountOwner, accountIdOf, type TransferKind } from '../rules/transfer.ts'
import { listAccounts } from './ledger.ts'

export interface Movement {
  readonly transferId: string
  readonly merchantId: string
  readonly kind: TransferKind
  readonly currency: string
  /** Positive for incoming money, negative for outgoing. */
  readonly amountMinor: bigint
  readonly otherAccountId: string
  readonly paymentId: string | undefined
  /** The bank's reference. */
  readonly reference: string | undefined
  readonly madeAtMs: number
}

export interface MovementPage {
  /** Only older transfers. */
  readonly before?: Pick<Movement, 'madeAtMs' | 'transferId'> | undefined
  readonly limit: number
}

export type MovementOwner = AccountOwner & {
  readonly ownerKind: 'wallet' | 'bank'
  /** Rails whose money is on this bank account. */
  readonly rails?: readonly string[]
}

export type ListMovements = ReturnType<typeof makeListMovements>

const shape = rowShape<Movement>('movement', {
  transferId: 't.transfer_id',
  merchantId: 't.merchant_id',
  kind: 't.kind',
  currency: 't.currency',
  amountMinor: bigint('t.amount_minor * t.sign'),
  otherAccountId: 't.other_account',
  paymentId: 't.payment_id',
  reference: 't.outside_reference',
  madeAtMs: number('t.made_at'),
})

/** Matches the conditions of the partial indexes. */
const isOwned = {
  wallet: (account: string) => plainSql(`starts_with(t.${account}, 'wallet:')`),
  bank: (account: string) => plainSql(`(t.${account} like 'bank:%' or t.${account} like 'rail:%')`),
} as const

export function makeListMovements(database: Pool) {
  return async (owner: MovementOwner, { before, limit }: MovementPage): Promise<Movement[]> => {
    const owners: readonly AccountOwner[] = [
      owner,
      ...(owner.rails ?? []).map((ownerId) => ({ ownerKind: 'rail', ownerId }) as const),
    ]
    const found = await Promise.all(owners.map((each) => listAccounts(database, each)))
    const accounts = found.flat().map(accountIdOf)
    const { madeAtMs = null, transferId = null } = before ?? {}
    // Money at a bank is negative in the books, so a debit is incoming money.
    const incoming = owner.ownerKind === 'bank' ? 'debit_account' : 'credit_account'
    const newestFirst = sql`order by made_at desc, transfer_id collate "C" desc limit ${limit}`
    const side = (own: 'debit_account' | 'credit_account') => sql`
(select t.*, ${plainSql(own === incoming ? '1' : '-1')} as sign,
        ${plainSql(own === 'credit_account' ? 't.debit_account' : 't.credit_account')} as other_account
   from transfers t
  where t.${plainSql(own)} = any (${accounts}) and ${isOwned[owner.ownerKind](own)} and t.phase in ('post', 'direct')
    and (${madeAtMs}::bigint is null or (t.made_at, t.transfer_id collate "C") < (${madeAtMs}, ${transferId}))
  ${newestFirst})`
    const { rows } = await database.query(sql`
select ${shape.columns}
  from (${side('credit_account')} union all ${side('debit_account')}) as t
 ${newestFirst}`)
    return rows.map(shape.read)
  }
}
