// Captures. A capture, its share of the order, its transfers, the order's end and its callback commit together, guarded
// by what was captured before.
import { batched } from '../../../../platform/database/batching.ts'
import { isDataError } from '../../../../platform/database/data-error.ts'
import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../../platform/database/row-shape.ts'
import { sql } from '../../../../platform/database/sql.ts'
import { CommitUnknown } from '../../../../platform/database/transient.ts'
import type { AuditEntry } from '../../../audit/rules/audit.ts'
import { insertAuditEntry } from '../../../audit/store/audit.ts'
import { type Change, type Publish, unpublished } from '../../../changes/rules/change.ts'
import { commitAndPublish } from '../../../changes/store/commit.ts'
import { effectsOf, feesAccount } from '../../../ledger/rules/transfer.ts'
import {
  addEffects,
  insertTransfers,
  lockAccounts,
  makeAccountOpener,
  type Spent,
} from '../../../ledger/store/ledger.ts'
import { dayOf } from '../../../wallets/rules/limits.ts'
import { wakeRailTasks } from '../../payments/store/rail-tasks.ts'
import type { Order, OrderKey } from '../../rules/order.ts'
import { changeStatuses } from '../../store/orders.ts'
import type { Capture, HeldChange } from '../rules/capture.ts'

/** `race_lost`: read again. `unknown`: the response to COMMIT was lost; read again as well. */
export type HeldOutcome = 'done' | 'race_lost' | 'unknown'

export interface Commitment {
  readonly entry?: AuditEntry | undefined
  /** A worker's claim on the authorization; without one, a claim is overruled. */
  readonly claimId?: string | undefined
}

export type CaptureStore = ReturnType<typeof makeCaptureStore>

export function makeCaptureStore(database: Pool, publish: Publish = unpublished) {
  const openAccounts = makeAccountOpener(database)
  return {
    /** Oldest first. */
    listCaptures: batched((keys: readonly OrderKey[]) => listCaptures(database, keys), {
      maxItems: 200,
      maxFlights: 2,
      isItemError: isDataError,
    }),
    commitHeldChange: async (change: HeldChange, commitment: Commitment = {}): Promise<HeldOutcome> => {
      const { merchantId, currency, fee } = change.order
      if (fee) await openAccounts([feesAccount(merchantId, currency)])
      try {
        return await commitAndPublish(database, publish, (transaction) =>
          commitHeldChange(transaction, change, commitment),
        )
      } catch (error) {
        if (error instanceof RaceLost) return 'race_lost'
        if (error instanceof CommitUnknown) return 'unknown'
        throw error
      }
    },
    /** Stores the capture for the rail that holds the money, and wakes its task. Without effect if the order changed. */
    askForCapture: (order: Order, planned: Capture, asking: Asking) =>
      commitAndPublish(database, publish, (transaction) =>
        askForCapture(transaction, { order, planned, ...asking }),
      ),
    /** Without effect if a release was requested before. */
    askForRelease: (order: Order, asking: Asking) =>
      commitAndPublish(database, publish, (transaction) => askForRelease(transaction, { order, ...asking })),
  }
}

interface Asking {
  readonly nowMs: number
  readonly entry: AuditEntry | undefined
}

const railAsked = { result: 'asked', changes: [{ kind: 'rail task' }] } as const

/** Locks the order, its task and its attempt in this order, as when a rail's response is committed. */
async function askForCapture(
  transaction: Queryable,
  { order, planned, nowMs, entry }: Asking & { readonly order: Order; readonly planned: Capture },
) {
  const { merchantId, paymentId, transactionId, authorization } = order
  const { rowCount } = await transaction.query(sql`
select from orders
 where merchant_id = ${merchantId} and payment_id = ${paymentId} and status = 'confirming'
   and captured_minor = ${authorization?.capturedMinor.toString() ?? '0'}::numeric and held_until > ${nowMs}
   for update`)
  if (rowCount === 0) return railAsked
  await wakeRailTasks(transaction, [transactionId ?? ''])
  const released = await transaction.query(sql`
select from rail_attempts
 where merchant_id = ${merchantId} and transaction_id = ${transactionId} and cancel_asked_at is not null`)
  if (released.rowCount !== 0) return { ...railAsked, result: 'releasing' as const }
  const inserted = await transaction.query(sql`
insert into captures (merchant_id, payment_id, refer_capture_no, ordinal, amount_minor, is_final)
values (${merchantId}, ${paymentId}, ${planned.referCaptureNo}, ${planned.ordinal},
        ${planned.amountMinor.toString()}::numeric, ${planned.isFinal})
    on conflict do nothing`)
  if (entry && inserted.rowCount === 1) await insertAuditEntry(transaction, entry)
  return railAsked
}

async function askForRelease(
  transaction: Queryable,
  { order, nowMs, entry }: Asking & { readonly order: Order },
) {
  const { merchantId, transactionId = '' } = order
  await wakeRailTasks(transaction, [transactionId])
  const { rowCount } = await transaction.query(sql`
update rail_attempts set cancel_asked_at = ${nowMs}
 where merchant_id = ${merchantId} and transaction_id = ${transactionId} and status = 'authorized'
   and cancel_asked_at is null`)
  if (entry && rowCount === 1) await insertAuditEntry(transaction, entry)
  return railAsked
}

/** What a rail captured or ended. False if the order changed; the caller decides again. */
export async function recordCaptured(
  transaction: Queryable,
  { order, capture, capturedBeforeMinor, end }: HeldChange,
): Promise<boolean> {
  const { merchantId, paymentId, authorization, fee } = order
  const { rowCount } = await transaction.query(sql`
update orders
   set captured_minor = ${authorization.capturedMinor.toString()}::numeric,
       fee_minor = ${fee?.amountMinor.toString() ?? null}::numeric, returns_fee = ${fee?.isReturned ?? null}::boolean
 where merchant_id = ${merchantId} and payment_id = ${paymentId} and status = 'confirming'
   and captured_minor = ${capturedBeforeMinor.toString()}::numeric`)
  if (rowCount !== 1) return false
  if (capture)
    await transaction.query(sql`
insert into captures as c (merchant_id, payment_id, refer_capture_no, ordinal, amount_minor, is_final, captured_at)
values (${merchantId}, ${paymentId}, ${capture.referCaptureNo}, ${capture.ordinal},
        ${capture.amountMinor.toString()}::numeric, ${capture.isFinal}, ${capture.capturedAtMs ?? null}::bigint)
    on conflict (merchant_id, payment_id, refer_capture_no) do update set captured_at = excluded.captured_at`)
  if (end) await failCapture(transaction, order, 'The authorization ended before the capture.')
  return true
}

export async function failCapture(
  transaction: Queryable,
  { merchantId, paymentId }: OrderKey,
  reason: string,
): Promise<void> {
  await transaction.query(sql`
update captures set failure = ${reason}
 where merchant_id = ${merchantId} and payment_id = ${paymentId} and captured_at is null and failure is null`)
}

class RaceLost extends Error {}

/** Locks accounts before the order, as everywhere. */
async function commitHeldChange(
  transaction: Queryable,
  change: HeldChange,
  { entry, claimId }: Commitment,
): Promise<{ readonly result: 'done'; readonly changes: readonly Change[] }> {
  const { order, end, transfers } = change
  const effects = effectsOf(transfers)
  await lockAccounts(transaction, effects.keys())
  await takeCapture(transaction, change)
  const submittedAtMs = await endOrReduce(transaction, change, claimId)
  await insertTransfers(transaction, transfers)
  const changed = end && (await changeStatuses(transaction, [end]))
  if (changed?.won.length === 0) throw new RaceLost()
  await addEffects(transaction, effects, givenBack(transfers, submittedAtMs))
  if (entry) await insertAuditEntry(transaction, entry)
  const { merchantId, paymentId, status } = order
  return { result: 'done', changes: changed?.changes ?? [{ kind: 'order', merchantId, paymentId, status }] }
}

/** These conditions repeat the table's CHECK: never more than was authorized, and only while it is held. */
async function takeCapture(transaction: Queryable, change: HeldChange): Promise<void> {
  const { order, capture, capturedBeforeMinor, changedAtMs } = change
  const { merchantId, paymentId, authorization, fee } = order
  // What has expired is released, and not captured.
  const endsAfterMs = capture ? changedAtMs : 0
  const { rowCount } = await transaction.query(sql`
update orders
   set captured_minor = ${authorization.capturedMinor.toString()}::numeric,
       fee_minor = ${fee?.amountMinor.toString() ?? null}::numeric, returns_fee = ${fee?.isReturned ?? null}::boolean
 where merchant_id = ${merchantId} and payment_id = ${paymentId} and status = 'confirming'
   and captured_minor = ${capturedBeforeMinor.toString()}::numeric
   and held_until > ${endsAfterMs}`)
  if (rowCount !== 1) throw new RaceLost()
  if (!capture) return
  const inserted = await transaction.query(sql`
insert into captures (merchant_id, payment_id, refer_capture_no, ordinal, amount_minor, is_final, captured_at)
values (${merchantId}, ${paymentId}, ${capture.referCaptureNo}, ${capture.ordinal},
        ${capture.amountMinor.toString()}::numeric, ${capture.isFinal}, ${capture.capturedAtMs ?? null}::bigint)
    on conflict do nothing`)
  if (inserted.rowCount !== 1) throw new RaceLost()
}

/** Returns when the consumer agreed. */
async function endOrReduce(
  transaction: Queryable,
  { order: { paymentId }, capture, end }: HeldChange,
  claimId: string | undefined,
): Promise<number> {
  const row = sql`
 where authorization_id = ${paymentId} and kind = 'held'
   and (${claimId ?? null}::uuid is null or claim_id = ${claimId ?? null}::uuid)
returning submitted_at`
  const { rows } = await transaction.query<{ submitted_at: string }>(
    end
      ? sql`delete from authorizations ${row}`
      : sql`update authorizations set amount_minor = amount_minor - ${capture?.amountMinor.toString() ?? '0'}::numeric ${row}`,
  )
  if (!rows[0]) throw new RaceLost()
  return Number(rows[0].submitted_at)
}

/** What was not captured does not count toward the day on which the consumer agreed. */
function givenBack(transfers: HeldChange['transfers'], submittedAtMs: number): Spent {
  const rest = transfers.find(({ phase }) => phase === 'void')
  return new Map(rest ? [[rest.debitAccountId, { day: dayOf(submittedAtMs), minor: -rest.amountMinor }]] : [])
}

const shape = rowShape<Capture & OrderKey>('capture', {
  merchantId: 'c.merchant_id',
  paymentId: 'c.payment_id',
  referCaptureNo: 'c.refer_capture_no',
  ordinal: number('c.ordinal'),
  amountMinor: bigint('c.amount_minor'),
  isFinal: 'c.is_final',
  capturedAtMs: number('c.captured_at'),
  failure: 'c.failure',
})

async function listCaptures(database: Queryable, keys: readonly OrderKey[]): Promise<Capture[][]> {
  const merchantIds = keys.map(({ merchantId }) => merchantId)
  const { rows } = await database.query(sql`
select ${shape.columns}
  from unnest(${merchantIds}::text[], ${keys.map(({ paymentId }) => paymentId)}::text[]) as k (merchant_id, payment_id)
  join captures c using (merchant_id, payment_id)
 where c.merchant_id = any (${merchantIds}::text[])
 order by c.ordinal`)
  const found = rows.map(shape.read)
  return keys.map(({ merchantId, paymentId }) =>
    found.filter((each) => each.merchantId === merchantId && each.paymentId === paymentId),
  )
}
