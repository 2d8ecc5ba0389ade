// The doctor's checks that need the database: schema, master key, clock, backups, rails.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeTransactionId, signWebhook, verifyRailResponse } from '@tillgate/protocol'
import type { Finding } from '../../adapters/cli/doctor.ts'
import { postToRail } from '../../finance/rails/conformance/post-to-rail.ts'
import { openSecrets } from '../../finance/rails/rail-directory.ts'
import type { RailWithSecrets } from '../../finance/rails/store/rails.ts'
import { backupWithinMs } from '../../platform/database/backup/backup-notes.ts'
import { type DatabaseHealth, readHealth } from '../../platform/database/health.ts'
import { countMigrations } from '../../platform/database/migrate.ts'
import { checkMode } from '../../platform/database/mode.ts'
import { type ConnectedDatabase, connectDatabase } from '../../platform/database/open-database.ts'
import { checkWritable } from '../../platform/database/writable.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { findMasterKeys } from '../../platform/runtime/secrets/master-keys.ts'
import { makeVault, type Vault } from '../../platform/runtime/secrets/vault.ts'
import { StartFailure } from '../../platform/runtime/start-failure.ts'
import { migrationsFolder } from '../database/open-gateway-database.ts'
import { checkMasterKey } from '../database/open-stores.ts'
import { makeStores, type Stores } from '../database/stores.ts'
import { type Config, operatorPasswordMissing } from '../settings/config.ts'
import { failed, failedBy, ok, skipped, warning } from './findings.ts'

const clockToleranceMs = 5_000

export interface DatabaseParts {
  readonly clock: Clock
  readonly signal: AbortSignal
}

export async function checkDatabase(config: Config, parts: DatabaseParts): Promise<Finding[]> {
  if (config.databaseUrl === undefined && !existsSync(join(config.dataDir, 'postgres/PG_VERSION')))
    return [ok('database', `The first start creates a private PostgreSQL in ${config.dataDir}.`)]
  const away = new AbortController()
  let database: ConnectedDatabase
  try {
    database = await connectDatabase({
      ...config,
      poolMax: 2,
      report(event) {
        if (event.kind !== 'database_away') return
        const fix = 'Start the database, open the network path to it, or correct DATABASE_URL.'
        away.abort(
          new StartFailure(`The database at ${event.address} does not respond (${event.reason}).\n${fix}`),
        )
      },
      signal: AbortSignal.any([parts.signal, away.signal]),
    })
  } catch (error) {
    return [failedBy('database', away.signal.aborted ? away.signal.reason : error)]
  }
  try {
    return await examine(config, database, parts)
  } catch (error) {
    return [failedBy('database', error)]
  } finally {
    await database.close()
  }
}

async function examine(
  config: Config,
  { pool }: ConnectedDatabase,
  parts: DatabaseParts,
): Promise<Finding[]> {
  const beforeMs = parts.clock.now()
  const health = await readHealth(pool)
  const findings = [...judge(config, health), checkClock(health.nowMs - (beforeMs + parts.clock.now()) / 2)]
  let migrations: Awaited<ReturnType<typeof countMigrations>>
  try {
    await checkMode(pool, config)
    migrations = await countMigrations(pool, migrationsFolder)
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error
    return [...findings, failedBy('schema', error)]
  }
  const { applied, missing } = migrations
  const writability = await checkWritable(pool, applied)
  if (writability.kind === 'not_writable') {
    const fix = 'Use the primary in DATABASE_URL, and turn default_transaction_read_only off.'
    findings.push(failed('database', `The database accepts no writes: ${writability.reason}.`, fix))
  }
  if (missing > 0) {
    const found = `The next start applies ${missing} schema ${missing === 1 ? 'file' : 'files'}.`
    const fix =
      'Make the user of DATABASE_URL the owner of the database, or run: grant create on schema public to that user.'
    return [
      ...findings,
      health.canCreateTables
        ? ok('schema', found)
        : failed('schema', `${found} The user cannot create tables.`, fix),
    ]
  }
  findings.push(ok('schema', 'The schema matches this version.'))
  const stores = makeStores(pool)
  return [
    ...findings,
    checkBackup(config, health, parts.clock.now()),
    ...(await checkSecrets(config, stores, parts)),
  ]
}

function judge(config: Config, health: DatabaseHealth): Finding[] {
  const { version, encoding, unsafe, freeConnections } = health
  const findings = [ok('database', `PostgreSQL ${version} responds.`)]
  if (encoding !== 'UTF8')
    findings.push(
      failed(
        'database',
        `The encoding of the database is ${encoding}, which cannot hold every name.`,
        "Move to a new one: create database tillgate encoding 'UTF8' template template0; then db backup and db restore.",
      ),
    )
  if (unsafe.length > 0)
    findings.push(
      failed(
        'database',
        `Off: ${unsafe.join(', ')}. A power failure would lose payments that were acknowledged.`,
        `Turn on in postgresql.conf, and for this database and user: ${unsafe.join(', ')}.`,
      ),
    )
  const needed = config.processes * (config.databasePoolMax + 1)
  if (config.databaseUrl !== undefined && freeConnections < needed)
    findings.push(
      warning(
        'database',
        `PostgreSQL has ${freeConnections} free connections, and this gateway may open ${needed}.`,
        'Lower DATABASE_POOL or PROCESSES, or raise max_connections.',
      ),
    )
  return findings
}

function checkClock(aheadMs: number): Finding {
  const seconds = Math.abs(Math.round(aheadMs / 1000))
  if (Math.abs(aheadMs) <= clockToleranceMs)
    return ok('clock', 'The clocks of this machine and the database agree.')
  const found = `The clock of the database is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine’s.`
  return failed('clock', found, 'Synchronize both clocks (chrony or systemd-timesyncd).')
}

function checkBackup({ mode }: Config, { lastBackupMs = 0 }: DatabaseHealth, nowMs: number): Finding {
  const hours = Math.floor((nowMs - lastBackupMs) / 3_600_000)
  const found = lastBackupMs === 0 ? 'No backup has been recorded.' : `The last backup is ${hours} hours old.`
  if (nowMs - lastBackupMs <= backupWithinMs) return ok('backup', found)
  if (mode === 'sandbox') return skipped('backup', found)
  return failed(
    'backup',
    found,
    'Run tillgate db backup every day, or tillgate db note-backup after another tool.',
  )
}

async function checkSecrets(config: Config, stores: Stores, parts: DatabaseParts): Promise<Finding[]> {
  const findings: Finding[] = []
  if (config.mode === 'live' && !config.operatorPassword && !(await stores.operators.hasOperators())) {
    const { name, problem, example } = operatorPasswordMissing
    findings.push(failed('settings', `${name} ${problem}.`, `Set ${name}, for example ${name}=${example}`))
  }
  try {
    const keys = findMasterKeys(config)
    if (!keys) return [...findings, ok('master key', 'The first start creates the master key.')]
    const vault = makeVault(...keys)
    await checkMasterKey(stores, vault)
    const rails = await stores.rails.listRails()
    const checked = await Promise.all(rails.map((rail) => checkRail(rail, { vault, config, ...parts })))
    return [...findings, ok('master key', 'The master key matches the secrets in the database.'), ...checked]
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error
    return [...findings, failedBy('master key', error)]
  }
}

/** Requests the status of a payment that does not exist, which changes nothing. */
async function checkRail(
  listed: RailWithSecrets,
  { vault, config, clock }: DatabaseParts & { readonly vault: Vault; readonly config: Config },
): Promise<Finding> {
  const { rail, secrets } = openSecrets(listed, vault)
  const { railId, url } = rail
  const about = `rail ${railId}`
  if (url === undefined) return skipped(about, 'It is paid by bank transfer, without a connection.')
  if (listed.rail.isPaused) return skipped(about, 'It is paused.')
  if (config.mode === 'sandbox' && new URL(url).port === String(config.railPort))
    return skipped(about, 'It starts with the gateway.')
  if (secrets.length === 0)
    return failed(
      about,
      `It is out of service: ${rail.lastFailure}.`,
      `tillgate rail rotate-secret ${railId}`,
    )
  const nowMs = clock.now()
  const body = JSON.stringify({
    type: 'payment.status',
    transactionId: makeTransactionId(nowMs, randomBytes),
  })
  const messageId = `doctor-${randomBytes(12).toString('hex')}`
  const response = await postToRail(url)(body, {
    ...signWebhook({ id: messageId, body }, { secrets, nowMs }),
  })
  if (response.kind === 'failed')
    return failed(
      about,
      `${url}: ${response.reason}.`,
      `Start the rail, or correct its address: tillgate rail change ${railId} --url …`,
    )
  const verdict = verifyRailResponse(response.headers, response.body, {
    messageId,
    secrets,
    nowMs: clock.now(),
  })
  if (response.httpStatus === 401 || verdict === 'wrong_signature')
    return failed(
      about,
      `${url} uses a different secret (HTTP ${response.httpStatus}).`,
      `Set the same secret on both sides: tillgate rail rotate-secret ${railId}`,
    )
  if (response.httpStatus === 200 && verdict === 'genuine')
    return ok(about, `${url} responds with a valid signature.`)
  const found = `${url} responds with HTTP ${response.httpStatus}, signature ${verdict.replaceAll('_', ' ')}.`
  return failed(about, found, `Correct the address, and check the rail: tillgate rail check ${url}`)
}
