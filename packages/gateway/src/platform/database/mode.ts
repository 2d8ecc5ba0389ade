// Binds a database to one mode. It is written when the database is first opened, and whatever opens it later with
// another MODE is refused: the sandbox's test wallets must never pay real orders.
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'
import type { Queryable } from './pool.ts'

export type Mode = 'sandbox' | 'live'

export interface GivenMode {
  readonly mode: Mode
  /** False: MODE is not set, and `mode` is its default. */
  readonly isModeGiven: boolean
}

/** Any number of processes may call this at once: the first one writes, the others compare. */
export async function bindMode(database: Queryable, given: GivenMode): Promise<void> {
  let bound = await readMode(database)
  if (bound === undefined) {
    await checkContent(database, given)
    await database.query({
      text: 'insert into database_mode (mode) values ($1) on conflict do nothing',
      values: [given.mode],
    })
    bound = await readMode(database)
  }
  refuseOther(bound, given, 'This database')
}

/** Writes nothing, and lets a database pass that has no mode yet. */
export async function checkMode(database: Queryable, given: GivenMode): Promise<void> {
  refuseOther(await readMode(database), given, 'This database')
}

/** Undefined: none is written yet, or the schema is from before there were any. */
export async function readMode(database: Queryable): Promise<Mode | undefined> {
  const { rows } = await database.query<{ there: boolean }>(
    `select to_regclass('database_mode') is not null as there`,
  )
  if (!rows[0]?.there) return undefined
  const { rows: modes } = await database.query<{ mode: Mode }>('select mode from database_mode')
  return modes[0]?.mode
}

export function refuseOther(bound: Mode | undefined, { mode, isModeGiven }: GivenMode, what: string): void {
  if (bound === undefined || bound === mode) return
  throw refused(
    `${what} belongs to ${bound}, and MODE is ${isModeGiven ? mode : `not set, which means ${mode}`}.\n` +
      `Set MODE=${bound}, or give the ${mode} gateway another database (DATABASE_URL or DATA_DIR).`,
  )
}

interface Content {
  readonly isBound: boolean
  readonly hasTestWallets: boolean
  readonly hasOrders: boolean
  readonly isUsed: boolean
}

/**
 * For a database that was used before modes were written. A sandbox makes its test wallets before it serves its first
 * order, so either of the two tells; where neither is there, MODE must be set.
 */
async function checkContent(database: Queryable, { mode, isModeGiven }: GivenMode): Promise<void> {
  // One statement, one snapshot: whoever sees what another process made at its first start sees the mode it wrote before.
  const { rows } = await database.query<Content>(`
select exists (select 1 from database_mode)                          as "isBound",
       exists (select 1 from wallets where behaviour is not null)    as "hasTestWallets",
       exists (select 1 from orders)                                 as "hasOrders",
       exists (select 1 from operators) or exists (select 1 from merchants) or exists (select 1 from wallets) as "isUsed"`)
  const [content] = rows
  if (!content || content.isBound) return
  if (content.hasTestWallets) {
    if (mode === 'sandbox') return
    throw refused(
      'This database holds the test wallets of a sandbox, whose PIN everybody knows, and MODE is live.\n' +
        'Give the live gateway another database (DATABASE_URL or DATA_DIR). If this is a live one on which a sandbox\n' +
        'was started by mistake, see "The mode of a database" in docs/operating.md.',
    )
  }
  if (content.hasOrders) return refuseOther('live', { mode, isModeGiven }, 'This database')
  if (content.isUsed && !isModeGiven) {
    throw refused(
      'This database was used before, and nothing in it says whether for a sandbox or live.\n' +
        'Set MODE=sandbox or MODE=live: it is asked for once, and written into the database.',
    )
  }
}

function refused(message: string): StartFailure {
  return new StartFailure(message, { exitCode: exitCodes.settings })
}
