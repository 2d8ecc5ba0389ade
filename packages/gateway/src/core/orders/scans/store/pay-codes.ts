// Codes of wallets, and the payment by such a code: the code's use, the order, the hold and the callback commit together.
// The session is locked first, like when it ends.
import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { number, rowShape } from '../../../../platform/database/row-shape.ts'
import { sql } from '../../../../platform/database/sql.ts'
import { CommitUnknown } from '../../../../platform/database/transient.ts'
import { type Change, type Publish, unpublished } from '../../../changes/rules/change.ts'
import { merchantAccount } from '../../../ledger/rules/transfer.ts'
import { makeAccountOpener } from '../../../ledger/store/ledger.ts'
import type { Submission } from '../../payments/rules/payment.ts'
import { commitSubmissions } from '../../payments/store/payments.ts'
import type { Order } from '../../rules/order.ts'
import { insertOrders, ordersCreated } from '../../store/orders.ts'
import { codesPerSession } from '../rules/pay-code.ts'

export interface HashedCode {
  readonly codeHash: string
  readonly digitsHash: string
  readonly sessionHash: Buffer
  readonly expiresAtMs: number
}

/** The wallet whose code was used. */
export interface ScannedWallet {
  readonly walletId: string
  /** Payments by code since the owner last confirmed one. */
  readonly scans: number
}

export interface Scan {
  readonly hash: string
  readonly order: Order
  readonly nowMs: number
  /** Undefined: the order waits until the owner confirms it. */
  readonly submissionFor: (wallet: ScannedWallet) => Submission | undefined
}

/**
 * `placed`: the code is used, and the order stored, paid or not. `not_accepted`: wrong, expired or used.
 * `number_used`: read the order by its number. `unknown`: the response to COMMIT was lost; read as well.
 */
export type ScanOutcome = 'placed' | 'not_accepted' | 'number_used' | 'unknown'

/** An order that the wallet's code paid or asks about. */
export interface ScannedOrder {
  readonly merchantId: string
  readonly paymentId: string
  readonly expiresAtMs: number
}

export type PayCodeStore = ReturnType<typeof makePayCodeStore>

export function makePayCodeStore(database: Pool, publish: Publish = unpublished) {
  const openAccounts = makeAccountOpener(database)
  return {
    /** False if the session has ended. Older codes of the session are deleted, as are expired ones of all. */
    insertCode: (code: HashedCode, nowMs: number): Promise<boolean> =>
      database.transaction((transaction) => insertCode(transaction, code, nowMs)),
    async commitScan(scan: Scan): Promise<ScanOutcome> {
      await openAccounts([merchantAccount(scan.order.merchantId, scan.order.currency)])
      try {
        const { result, changes } = await database.transaction((transaction) => commitScan(transaction, scan))
        if (changes.length > 0) publish(changes)
        return result
      } catch (error) {
        if (error instanceof NumberUsed) return 'number_used'
        if (error instanceof CommitUnknown) return 'unknown'
        throw error
      }
    },
    /** Newest first. */
    async listScanned(walletId: string, nowMs: number): Promise<ScannedOrder[]> {
      const { rows } = await database.query(sql`
select ${shape.columns}
  from pay_codes c join wallet_sessions s on s.token_hash = c.session_hash
 where s.wallet_id = ${walletId} and c.payment_id is not null and c.expires_at > ${nowMs}
 order by c.payment_id desc
 limit 10`)
      return rows.map(shape.read)
    },
    /** The owner was asked for the PIN or a passkey. */
    async confirmSession(sessionId: string): Promise<void> {
      await database.query(sql`
update wallet_sessions set scans = 0 where session_id = ${sessionId} and scans > 0`)
    },
  }
}

const shape = rowShape<ScannedOrder>('scanned order', {
  merchantId: 'c.merchant_id',
  paymentId: 'c.payment_id',
  expiresAtMs: number('c.expires_at'),
})

async function insertCode(
  transaction: Queryable,
  { codeHash, digitsHash, sessionHash, expiresAtMs }: HashedCode,
  nowMs: number,
): Promise<boolean> {
  const { rows } = await transaction.query(sql`
select 1 from wallet_sessions where token_hash = ${sessionHash} and ends_at > ${nowMs} for update`)
  if (rows.length === 0) return false
  await transaction.query(sql`
insert into pay_codes (code_hash, digits_hash, session_hash, expires_at)
values (${codeHash}, ${digitsHash}, ${sessionHash}, ${expiresAtMs})`)
  await transaction.query(sql`
delete from pay_codes
 where session_hash = ${sessionHash}
   and (expires_at <= ${nowMs}
     or code_hash in (select code_hash from pay_codes where session_hash = ${sessionHash} and payment_id is null
                       order by expires_at desc, code_hash <> ${codeHash} offset ${codesPerSession}))`)
  return true
}

class NumberUsed extends Error {}

async function commitScan(
  transaction: Queryable,
  { hash, order, nowMs, submissionFor }: Scan,
): Promise<{ readonly result: ScanOutcome; readonly changes: readonly Change[] }> {
  const wallet = await useCode(transaction, { hash, order, nowMs })
  if (!wallet) return { result: 'not_accepted', changes: [] }
  const [stored] = await insertOrders(transaction, [order])
  // The code stays unused, because this transaction ends here.
  if (stored?.paymentId !== order.paymentId) throw new NumberUsed()
  const created = ordersCreated([order], [stored])
  const submission = submissionFor(wallet)
  if (!submission) return { result: 'placed', changes: created }
  const paid = await commitSubmissions(transaction, [submission])
  // Without enough money, the owner decides what to do, like above a limit.
  if (paid.result[0] === 'submitted')
    await transaction.query(sql`
update wallet_sessions set scans = scans + 1 where token_hash = ${wallet.sessionHash}`)
  return { result: 'placed', changes: [...created, ...paid.changes] }
}

const walletShape = rowShape<ScannedWallet & { readonly sessionHash: Buffer }>('scanned wallet', {
  walletId: 's.wallet_id',
  scans: number('s.scans'),
  sessionHash: 's.token_hash',
})

/** One way for wrong, expired and used codes, so that they take the same time. */
async function useCode(
  transaction: Queryable,
  { hash, order, nowMs }: Pick<Scan, 'hash' | 'order' | 'nowMs'>,
): Promise<(ScannedWallet & { readonly sessionHash: Buffer }) | undefined> {
  const { rows } = await transaction.query(sql`
select ${walletShape.columns}
  from wallet_sessions s join wallets w on w.wallet_id = s.wallet_id and w.status = 'active'
 where s.token_hash = (select session_hash from pay_codes where code_hash = ${hash} or digits_hash = ${hash})
   and s.ends_at > ${nowMs}
   for update of s`)
  const { rowCount } = await transaction.query(sql`
update pay_codes
   set merchant_id = ${order.merchantId}, payment_id = ${order.paymentId}, expires_at = ${order.expiresAtMs}
 where (code_hash = ${hash} or digits_hash = ${hash}) and payment_id is null and expires_at > ${nowMs}`)
  return rows[0] && rowCount === 1 ? walletShape.read(rows[0]) : undefined
}
