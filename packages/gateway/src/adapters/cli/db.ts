// tillgate db …: backup and restore, pruning, and distribution over several machines.
import { Command, InvalidArgumentError } from 'commander'
import { describeVerification } from '../../core/ledger/run-checks.ts'
import { verifyLedger } from '../../finance/overview/store/verify-ledger.ts'
import { type BackupHeader, type TableCount, writeBackup } from '../../platform/database/backup/backup.ts'
import type { BackupDecryption, BackupEncryption } from '../../platform/database/backup/backup-encryption.ts'
import { readBackupFile, writeBackupFile } from '../../platform/database/backup/backup-file.ts'
import { backupToolPattern, noteBackup, ownBackupTool } from '../../platform/database/backup/backup-notes.ts'
import { restoreBackup } from '../../platform/database/backup/restore.ts'
import { distribute, prepareDistribution } from '../../platform/database/cluster/distribute.ts'
import { bindMode, checkMode, refuseOther } from '../../platform/database/mode.ts'
import { connectDatabase, type DatabaseEvent } from '../../platform/database/open-database.ts'
import type { Pool } from '../../platform/database/pool.ts'
import { systemClock } from '../../platform/runtime/clock.ts'
import { findMasterKeys } from '../../platform/runtime/secrets/master-keys.ts'
import { makeVault } from '../../platform/runtime/secrets/vault.ts'
import { exitCodes, StartFailure } from '../../platform/runtime/start-failure.ts'
import { version } from '../../platform/runtime/version.ts'
import {
  type CommandSettings,
  type OutputOptions,
  print,
  stopIfAsked,
  type Terminal,
  table,
  type WithContext,
} from './context.ts'
import { readTextFile } from './files.ts'

interface BackupOptions extends OutputOptions {
  readonly recipient?: readonly string[]
  readonly passphraseFile?: string
}

interface RestoreOptions extends OutputOptions {
  readonly passphraseFile?: string
  readonly identityFile?: string
  readonly withoutMasterKey?: boolean
}

interface DbParts {
  readonly withContext: WithContext
  readonly terminal: Terminal
  readonly migrationsFolder: string
}

export function dbCommand(parts: DbParts): Command {
  const command = new Command('db').description('back up, restore, prune and distribute the database')
  addBackup(command, parts)
  addNoteBackup(command, parts)
  addRestore(command, parts)
  addPrune(command, parts)
  addDistribute(command, parts)
  return command
}

function addBackup(command: Command, { terminal }: DbParts): void {
  command
    .command('backup')
    .description('write a consistent backup to a file while gateways run')
    .argument('<file>', 'a new file, such as tillgate-2026-01-31.jsonl.gz')
    .option(
      '--recipient <key...>',
      'encrypt the backup for these age public keys (age1…); each can decrypt it',
    )
    .option('--passphrase-file <file>', 'encrypt it with the passphrase in this file; - reads standard input')
    .option('--json', 'Print JSON')
    .action((path: string, options: BackupOptions) =>
      withDatabase(terminal, async ({ pool, signal }) => {
        const encryption = encryptionOf(options)
        const madeAtMs = systemClock.now()
        const tables = await writeBackupFile(
          path,
          (write) =>
            writeBackup(pool, {
              madeAtMs,
              madeBy: `tillgate ${version}`,
              async write(text) {
                stopIfAsked(signal, 'No backup was made; the incomplete file was removed.')
                await write(text)
              },
            }),
          encryption,
        )
        // The backup is valid without its note, which a standby, for example, cannot store.
        const noted = await noteBackup(pool, { tool: ownBackupTool, takenAtMs: madeAtMs }).catch(() => false)
        const lines = [
          ...countLines(tables),
          '',
          encryption
            ? `${path} is encrypted: without the passphrase or an identity, it cannot be read, not even by you.`
            : `${path} is not encrypted. It contains names, logins, orders, addresses, balances and the audit log in plain text. Keys, PINs, passwords and checkout links are sealed, hashed or omitted. Use --recipient or --passphrase-file to encrypt the backup.`,
          'The backup does not contain the master key. Store it separately; without it, the keys of merchants and of the gateway cannot be restored.',
          ...(noted
            ? []
            : ['The time of this backup could not be recorded, so metrics show the previous one.']),
        ]
        print(terminal, options, {
          value: { file: path, encrypted: encryption !== undefined, noted, tables },
          lines,
        })
      }),
    )
}

function addNoteBackup(command: Command, { terminal }: DbParts): void {
  command
    .command('note-backup')
    .description('record that another tool has just made a backup, for metrics and alerts')
    .argument('<tool>', 'such as pg_dump, pgbackrest or snapshots')
    .option('--json', 'Print JSON')
    .action((tool: string, options: OutputOptions) =>
      withDatabase(terminal, async ({ pool }) => {
        if (!backupToolPattern.test(tool))
          throw new StartFailure(
            `"${tool}" is not a valid name for a tool: use up to 32 lower-case letters, digits, points, dashes and underscores.`,
          )
        const takenAtMs = systemClock.now()
        if (!(await noteBackup(pool, { tool, takenAtMs })))
          throw new StartFailure('This database has an older schema. Start a gateway of this version first.')
        const takenAt = new Date(takenAtMs).toISOString()
        print(terminal, options, { value: { tool, takenAt }, lines: [`Recorded: ${tool}, ${takenAt}.`] })
      }),
    )
}

function addRestore(command: Command, { terminal, migrationsFolder }: DbParts): void {
  command
    .command('restore')
    .description('restore a backup into a new, empty database, and verify the books')
    .argument('<file>', 'a file written by `db backup`')
    .option('--passphrase-file <file>', 'the passphrase of an encrypted backup; - reads standard input')
    .option('--identity-file <file>', 'the identities (AGE-SECRET-KEY-1…) of an encrypted backup')
    .option(
      '--without-master-key',
      'restore without the master key; merchants’ keys and callbacks will be unusable',
    )
    .option('--json', 'Print JSON')
    .action((path: string, options: RestoreOptions) =>
      withDatabase(terminal, async ({ pool, config, signal }) => {
        const { header, tables, leftOut, ended, migrated } = await restoreBackup(pool, {
          lines: untilStopped(readBackupFile(path, decryptionOf(options)), signal),
          migrationsFolder,
          nowMs: systemClock.now(),
          checkHeader(found) {
            refuseOther(found.mode, config, 'This backup')
            checkMasterKey(found, config, options)
          },
        })
        const madeAt = new Date(header.madeAtMs).toISOString()
        stopIfAsked(
          signal,
          `Everything was restored as of ${madeAt}, but the books were not verified: run \`ledger verify\`. Changes and revocations after that time are lost: repeat them.`,
        )
        const verification = await verifyLedger(pool)
        const lines = [
          ...countLines(tables),
          '',
          ...leftOut.map(
            ({ table, rows }) =>
              `Not restored, because it is not a table of Tillgate: ${table} (rows: ${rows}).`,
          ),
          `Restored as of ${madeAt}${migrated.length === 0 ? '' : `, and brought up to date: ${migrated.join(', ')}`}.`,
          `Ended: ${ended.sessions} sessions of operators, members and wallets. Deleted: ${ended.links} one-time links and codes. Revoked: ${ended.apiTokens} API tokens. Expired: ${ended.requests} requests for approval.`,
          `Changes and revocations after ${madeAt} are lost. Repeat them: revoked keys of merchants and retired platform keys, new passwords and second steps, disabled operators, removed members, suspended merchants, locked wallets, removed callback hosts. Payouts that left after the backup wait again: compare runs with the bank before you send them.`,
          ...describeVerification(verification),
        ]
        print(terminal, options, {
          value: { madeAt, tables, leftOut, ended, migrated, verification },
          lines,
        })
        if (verification.findings.length > 0) terminal.setExitCode(1)
        // A backup from before modes were stored is judged by its content.
        await bindMode(pool, config)
      }),
    )
}

function addPrune(command: Command, { withContext, terminal }: DbParts): void {
  command
    .command('prune')
    .description('delete data past its retention period; gateways also do this automatically')
    .option('--json', 'Print JSON')
    .action((options: OutputOptions) =>
      withContext(async ({ operations, config, signal }) => {
        const pruned = await operations.prune(signal)
        const { dropped, busy } = pruned.partitions
        const lines = [
          `callbacks with deleted text (older than ${config.callbackHistoryDays} days): ${pruned.callbacks}`,
          `dropped partitions of old attempts and requests: ${dropped.join(', ') || 'none'}`,
          ...busy.map(
            (table) => `${table} was locked for too long to drop its old partitions. Run this command again.`,
          ),
          `callbacks exhausted because their host stayed paused: ${pruned.exhausted}`,
          `orders from which personal data was erased: ${pruned.erased}`,
          `ended sessions of operators: ${pruned.sessions}`,
          `callback hosts that a merchant no longer uses: ${pruned.hosts}`,
          `expired counters of wrong PINs and passwords: ${pruned.tries}`,
          `emails sent or given up more than a month ago: ${pruned.emails}`,
        ]
        print(terminal, options, { value: pruned, lines })
      }),
    )
}

function addDistribute(command: Command, { terminal }: DbParts): void {
  command
    .command('distribute')
    .description('distribute the merchants’ tables over the machines of a Citus cluster; repeatable')
    .option(
      '--blocking',
      'distribute now: gateways return 50300 meanwhile. Without this option, only check and estimate the duration',
    )
    .option('--within <seconds>', 'cancel after this many seconds, with nothing changed', wholeSeconds)
    .option('--json', 'Print JSON')
    .action((options: OutputOptions & { blocking?: boolean; within?: number }) =>
      withDatabase(terminal, async ({ pool }) => {
        const plan = await prepareDistribution(pool, { withinSeconds: options.within })
        const { citusVersion, steps, bytes, withinSeconds } = plan
        const isDone = steps.length > 0 && options.blocking === true
        const lines = [
          `Citus ${citusVersion}: the cluster meets the requirements.`,
          ...(steps.length === 0
            ? ['All tables are already distributed.']
            : [
                `${steps.length} steps, ${Math.ceil(bytes / 1_000_000)} MB. Gateways return 50300 with Retry-After for at most ${withinSeconds} seconds. After that, the change is rolled back.`,
              ]),
        ]
        // Printed before the start, so that the duration can be estimated; progress is not part of JSON.
        const say = (...lines: string[]) =>
          options.json || print(terminal, options, { value: undefined, lines })
        say(...lines)
        if (isDone) await distribute(pool, plan, say)
        const result = { citusVersion, steps: steps.map(({ about }) => about), bytes, withinSeconds, isDone }
        if (options.json) print(terminal, options, { value: result, lines: [] })
        else if (isDone) say('All tables are distributed by merchant_id.')
        else if (steps.length > 0) say('Nothing was changed. Add --blocking to run it.')
      }),
    )
}

function wholeSeconds(text: string): number {
  const seconds = Number(text)
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400)
    throw new InvalidArgumentError('Enter whole seconds from 1 to 86400.')
  return seconds
}

async function* untilStopped(lines: AsyncIterable<string>, signal: AbortSignal): AsyncIterable<string> {
  for await (const line of lines) {
    stopIfAsked(signal, 'Nothing was restored. Run it again on the same database.')
    yield line
  }
}

function encryptionOf({ recipient, passphraseFile }: BackupOptions): BackupEncryption | undefined {
  if (recipient && passphraseFile !== undefined)
    throw new StartFailure('Use either --recipient or --passphrase-file.')
  if (recipient) return { kind: 'recipients', recipients: recipient }
  if (passphraseFile === undefined) return undefined
  return { kind: 'passphrase', passphrase: readPassphrase(passphraseFile) }
}

function decryptionOf({ identityFile, passphraseFile }: RestoreOptions): BackupDecryption | undefined {
  if (passphraseFile !== undefined) return { kind: 'passphrase', passphrase: readPassphrase(passphraseFile) }
  if (identityFile === undefined) return undefined
  const lines = readTextFile(identityFile)
    .split('\n')
    .map((line) => line.trim())
  return { kind: 'identities', identities: lines.filter((line) => line !== '' && !line.startsWith('#')) }
}

/** Without the line's end. */
function readPassphrase(path: string): string {
  return readTextFile(path).replace(/\r?\n$/, '')
}

/** Without migrating: a backup copies the database as it is, and a restore creates the schema itself. */
async function withDatabase(
  terminal: Terminal,
  work: (opened: { pool: Pool; config: CommandSettings; signal: AbortSignal }) => Promise<void>,
): Promise<void> {
  const config = terminal.readSettings()
  const signal = terminal.watchInterrupt()
  const { pool, close } = await connectDatabase({
    ...config,
    poolMax: 2,
    statementTimeoutMs: 0,
    report: reportAway(terminal),
    signal,
  })
  try {
    await checkMode(pool, config)
    await work({ pool, config, signal })
  } finally {
    await close()
  }
}

/** A command waits for its database as long as a gateway does, so it prints why. */
export function reportAway({ err }: Pick<Terminal, 'err'>): (event: DatabaseEvent) => void {
  let isReported = false
  return (event) => {
    if (event.kind !== 'database_away' || isReported) return
    isReported = true
    err.write(
      `The database at ${event.address} does not respond (${event.reason}). Retrying; press Ctrl-C to stop.\n`,
    )
  }
}

/** A missing master key must be noticed before the old machine is gone. */
function checkMasterKey(
  { masterKeyIds }: BackupHeader,
  config: CommandSettings,
  { withoutMasterKey = false }: RestoreOptions,
): void {
  const keys = findMasterKeys(config)
  const known = keys ? makeVault(...keys).masterKeyIds.map((id) => id.toString('hex')) : []
  if (withoutMasterKey || masterKeyIds.every((id) => known.includes(id))) return
  throw new StartFailure(
    'The secrets in this backup are encrypted under a master key that is not configured here.\n' +
      'Set MASTER_KEY or MASTER_KEY_FILE to that key, or put its master.key into DATA_DIR.\n' +
      'Without it, no merchant can send a request, and no callback can be encrypted (--without-master-key restores anyway).',
    { exitCode: exitCodes.settings },
  )
}

function countLines(tables: readonly TableCount[]): string[] {
  return table(
    ['table', 'rows'],
    tables.map((each) => [each.table, String(each.rows)]),
  )
}
