// Filled databases of past releases, each made once by the release's own program (reliability/upgrade/keep-release.ts): a
// backup, and beside it what people knew who dealt with it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readBackupFile } from '../../src/platform/database/backup/backup-file.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import type { MerchantKeys } from './merchant-client.ts'
import { migrationsFolder } from './server.ts'

export interface KnownOfRelease {
  readonly release: string
  readonly masterKey: string
  readonly operators: readonly { readonly login: string; readonly password: string }[]
  /** Of the admin API. */
  readonly token: string
  readonly wallet: { readonly login: string; readonly pin: string }
  /** All that the sandbox's file has. */
  readonly demoMerchant: MerchantKeys
  /** The demo merchant is the last. */
  readonly merchants: readonly MerchantKeys[]
  /** As the last query of each was answered. */
  readonly orders: readonly {
    readonly merchantId: string
    readonly paymentId: string
    readonly answer: Readonly<Record<string, unknown>>
  }[]
  /** The path of a pending order's page. */
  readonly checkout: string
  readonly callbacks: readonly KnownCallback[]
}

export interface KnownCallback {
  readonly callbackId: string
  readonly merchantId: string
  readonly paymentId: string
  readonly eventName: string
  readonly host: string
  readonly state: string
  readonly attemptsMade: number
}

const folder = join(import.meta.dirname, '../upgrade')

/** Without their ends: .jsonl.gz is the backup, .json what was known. */
export function placeOfRelease(version: string): string {
  return join(folder, version)
}

/** The database as the release left it, its schema too: `db restore` would end sessions and revoke tokens. */
export async function restoreRelease(
  pool: Pool,
  version: string,
): Promise<{ readonly known: KnownOfRelease; readonly madeAtMs: number }> {
  let madeAtMs = 0
  let table = ''
  let rows: string[] = []
  for await (const line of readBackupFile(`${placeOfRelease(version)}.jsonl.gz`)) {
    if (line.startsWith('{')) {
      rows.push(line)
      continue
    }
    const [kind, content] = JSON.parse(line)
    if (kind === 'tillgate backup') {
      madeAtMs = content.madeAtMs
      await migrate(pool, migrationsFolder, { upTo: content.migrations.length })
    } else if (kind === 'table') {
      table = content
      await pool.query(`delete from ${table}`)
    } else if (kind === 'end') {
      await pool.query({
        text: `insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`,
        values: [`[${rows.join(',')}]`],
      })
      rows = []
    }
  }
  const known = JSON.parse(await readFile(`${placeOfRelease(version)}.json`, 'utf8')) as KnownOfRelease
  return { known, madeAtMs }
}
