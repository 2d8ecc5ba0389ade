// Binds a database to one mode at its first use and rejects the other mode later, because the sandbox's test wallets
// must never pay real orders.
import type { Mode } from '../runtime/ssrf-guard.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'
import type { Queryable } from './pool.ts'

export interface GivenMode {
  readonly mode: Mode
  /** False if MODE is not set and `mode` is its default. */
  readonly isModeGiven: boolean
}

/** Safe under concurrency: the first process writes the mode, and the others compare it. */
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

/** Accepts a database without a mode. Writes nothing. */
export async function checkMode(database: Queryable, given: GivenMode): Promise<void> {
  refuseOther(await readMode(database), given, 'This database')
}

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
 * Covers databases used before modes were stored. A sandbox creates its test wallets before its first order, so
 * wallets and orders reveal the mode. If both are missing, MODE must be set.
 */
async function checkContent(database: Queryable, { mode, isModeGiven }: GivenMode): Promise<void> {
  // One snapshot: a process that sees another's first rows also sees the mode that was written before them.
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
