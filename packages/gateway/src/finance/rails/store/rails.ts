// Rails and their secrets: a small table that is read completely. Its slots allow at most two live secrets per rail.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import type { MadeBefore } from '../../../core/audit/rules/shown-once.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { NewEmail } from '../../../core/emails/rules/email.ts'
import { queueEmails } from '../../../core/emails/store/queue-emails.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { OutsideRail, RailSecret } from '../rules/outside-rail.ts'
import { pauseAfter } from '../rules/rail-retry.ts'
import type { BankAccount } from '../rules/transfer-account.ts'

export interface RailWithSecrets {
  readonly rail: OutsideRail
  readonly secrets: readonly RailSecret[]
}

export type RailChanges = Partial<Omit<OutsideRail, 'railId' | 'createdAtMs'>>

type StoredSecret = MadeBefore & Pick<RailSecret, 'sealedSecret'>

export type RailStore = ReturnType<typeof makeRailStore>

export function makeRailStore(database: Pool) {
  return {
    /** False if the id is taken. */
    insertRail: (rail: OutsideRail, secret: RailSecret | undefined, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        if (!(await insertRail(transaction, rail))) return false
        if (secret) await insertSecret(transaction, secret)
        return true
      }),
    listRails: () => listRails(database),
    findRail: async (railId: string) => (await listRails(database, railId))[0],
    changeRail: (railId: string, entryFor: (before: OutsideRail) => ChangeWithEntry | undefined) =>
      changeRail(database, railId, entryFor),
    /** Includes ended secrets. */
    findSecret: (key: Pick<RailSecret, 'railId' | 'secretId'>) => findSecret(database, key),
    /** Keeps the newest other secret, or none. False if this secret exists already. */
    replaceSecret: (secret: RailSecret, options: { readonly endsOthers: boolean }, entry: AuditEntry) =>
      audited(database, entry, async (transaction) => {
        // Locks first, so that concurrent rotations take turns.
        await transaction.query({
          text: 'select from rails where rail_id = $1 for no key update',
          values: [secret.railId],
        })
        if (await findSecret(transaction, secret)) return false
        await endSecrets(transaction, secret, options)
        await insertSecret(transaction, secret)
        return true
      }),
    /** Returns the end of the pause, if any. */
    noteFailure: (railId: string, given: RailFailure) => noteFailure(database, railId, given),
    noteAnswer: async (railId: string): Promise<void> => {
      await database.query({
        text: 'update rails set failures = 0, paused_until = null where rail_id = $1 and failures > 0',
        values: [railId],
      })
    },
  }
}

interface RailRow {
  rail_id: string
  name: string
  names: Record<string, string>
  url: string | null
  account: BankAccount | null
  currencies: string[]
  least: Record<string, string>
  most: Record<string, string>
  merchants: string[] | null
  position: number
  logo: string | null
  is_paused: boolean
  failures: number
  last_failure: string | null
  paused_until: string | null
  created_at: string
  authorization_days: number | null
}

const columns = `rail_id, name, names, url, currencies, least, most, merchants, position, logo, is_paused, failures,
       last_failure, paused_until, account, authorization_days, created_at`

async function insertRail(transaction: Queryable, rail: OutsideRail): Promise<boolean> {
  const { rowCount } = await transaction.query({
    text: `
insert into rails (${columns})
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
    on conflict do nothing`,
    values: [...valuesOf(rail), rail.createdAtMs],
  })
  return rowCount === 1
}

async function listRails(database: Queryable, railId?: string): Promise<RailWithSecrets[]> {
  const { rows } = await database.query<RailRow & { secrets: SecretRow[] | null }>({
    text: `
select ${columns},
       (select json_agg(json_build_object('secret_id', s.secret_id, 'sealed', encode(s.sealed_secret, 'base64'),
                                          'created_at', s.created_at) order by s.created_at desc, s.secret_id desc)
          from rail_secrets s
         where s.rail_id = r.rail_id and s.ended_at is null) as secrets
  from rails r
 where $1::text is null or rail_id = $1
 order by position, rail_id`,
    values: [railId ?? null],
  })
  return rows.map((row) => ({
    rail: toRail(row),
    secrets: (row.secrets ?? []).map((secret) => ({
      railId: row.rail_id,
      secretId: secret.secret_id,
      // json_agg can only carry a bytea as text.
      sealedSecret: Buffer.from(secret.sealed, 'base64'),
      createdAtMs: Number(secret.created_at),
    })),
  }))
}

interface SecretRow {
  secret_id: string
  sealed: string
  created_at: number
}

interface ChangeWithEntry {
  readonly changes: RailChanges
  readonly entry: AuditEntry
}

async function changeRail(
  database: Pool,
  railId: string,
  entryFor: (before: OutsideRail) => ChangeWithEntry | undefined,
): Promise<OutsideRail | undefined> {
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query<RailRow>({
      text: `select ${columns} from rails where rail_id = $1 for no key update`,
      values: [railId],
    })
    const before = rows[0] && toRail(rows[0])
    const wanted = before && entryFor(before)
    if (!wanted) return before
    const changed = { ...before, ...wanted.changes }
    await transaction.query({
      text: `
update rails
   set name = $2, names = $3, url = $4, currencies = $5, least = $6, most = $7, merchants = $8, position = $9,
       logo = $10, is_paused = $11, failures = $12, last_failure = $13, paused_until = $14,
       account = $15, authorization_days = $16
 where rail_id = $1`,
      values: valuesOf(changed),
    })
    await insertAuditEntry(transaction, wanted.entry)
    return changed
  })
}

const secretShape = rowShape<StoredSecret>('secret', {
  sealedSecret: 'sealed_secret',
  createdAtMs: number('created_at'),
  isOver: 'ended_at is not null',
})

async function findSecret(
  database: Queryable,
  { railId, secretId }: Pick<RailSecret, 'railId' | 'secretId'>,
): Promise<StoredSecret | undefined> {
  const { rows } = await database.query(sql`
select ${secretShape.columns} from rail_secrets where rail_id = ${railId} and secret_id = ${secretId}`)
  return rows[0] && secretShape.read(rows[0])
}

async function endSecrets(
  transaction: Queryable,
  { railId, createdAtMs }: RailSecret,
  { endsOthers }: { readonly endsOthers: boolean },
): Promise<void> {
  await transaction.query({
    text: `
update rail_secrets
   set ended_at = $2
 where rail_id = $1 and ended_at is null
   and secret_id not in (select secret_id
                           from rail_secrets
                          where rail_id = $1 and ended_at is null
                          order by created_at desc, secret_id desc
                          limit $3)`,
    values: [railId, createdAtMs, endsOthers ? 0 : 1],
  })
}

async function insertSecret(transaction: Queryable, secret: RailSecret): Promise<void> {
  const { rowCount } = await transaction.query({
    text: `
insert into rail_secrets (rail_id, secret_id, slot, sealed_secret, created_at)
select $1, $2, free.slot, $3, $4
  from (values (1), (2)) as free (slot)
 where not exists (select 1 from rail_secrets s
                    where s.rail_id = $1 and s.slot = free.slot and s.ended_at is null)
 order by free.slot
 limit 1`,
    values: [secret.railId, secret.secretId, secret.sealedSecret, secret.createdAtMs],
  })
  if (rowCount !== 1) throw new Error('a rail has two live secrets at most')
}

interface RailFailure {
  readonly failure: string
  readonly nowMs: number
  readonly emailsFor: (pausedUntilMs: number) => readonly NewEmail[]
}

async function noteFailure(
  database: Pool,
  railId: string,
  { failure, nowMs, emailsFor }: RailFailure,
): Promise<number | undefined> {
  return database.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ failures: number }>({
      text: `
update rails set failures = failures + 1, last_failure = $2
 where rail_id = $1 and (paused_until is null or paused_until <= $3)
returning failures`,
      values: [railId, failure, nowMs],
    })
    const pauseMs = rows[0] && pauseAfter(rows[0].failures)
    if (pauseMs === undefined) return undefined
    await transaction.query({
      text: 'update rails set paused_until = $2 where rail_id = $1',
      values: [railId, nowMs + pauseMs],
    })
    await queueEmails(transaction, emailsFor(nowMs + pauseMs))
    return nowMs + pauseMs
  })
}

function valuesOf(rail: OutsideRail) {
  return [
    rail.railId,
    rail.name,
    JSON.stringify(rail.names),
    rail.url ?? null,
    rail.currencies,
    JSON.stringify(digits(rail.leastMinor)),
    JSON.stringify(digits(rail.mostMinor)),
    rail.merchants ?? null,
    rail.position,
    rail.logo ?? null,
    rail.isPaused,
    rail.failures,
    rail.lastFailure ?? null,
    rail.pausedUntilMs ?? null,
    rail.account ? JSON.stringify(rail.account) : null,
    rail.authorizationDays ?? null,
  ]
}

function digits(limits: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(limits).map(([currency, minor]) => [currency, minor.toString()]))
}

function fromDigits(limits: Readonly<Record<string, string>>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(limits).map(([currency, minor]) => [currency, BigInt(minor)]))
}

function toRail(row: RailRow): OutsideRail {
  return {
    railId: row.rail_id,
    name: row.name,
    names: row.names,
    url: row.url ?? undefined,
    account: row.account ?? undefined,
    currencies: row.currencies,
    leastMinor: fromDigits(row.least),
    mostMinor: fromDigits(row.most),
    merchants: row.merchants ?? undefined,
    position: row.position,
    logo: row.logo ?? undefined,
    isPaused: row.is_paused,
    failures: row.failures,
    lastFailure: row.last_failure ?? undefined,
    pausedUntilMs: row.paused_until === null ? undefined : Number(row.paused_until),
    createdAtMs: Number(row.created_at),
    authorizationDays: row.authorization_days ?? undefined,
  }
}
