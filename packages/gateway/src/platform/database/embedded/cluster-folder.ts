// Creates the data folder (DATA_DIR/postgres) at the first start, atomically even if the power fails or two gateways
// start at once.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../runtime/errors.ts'
import { exitCodes, StartFailure } from '../../runtime/start-failure.ts'
import type { Binaries } from './binaries.ts'
import { isAlive } from './postmaster-file.ts'
import { fatalLines } from './server-words.ts'
import { assertReachable, callAs, chooseAccount, giveTo, type SystemAccount } from './system-account.ts'

export const superuser = 'tillgate'
const leftoverPattern = /^postgres\.new-(\d+)-/

export interface Cluster {
  readonly folder: string
  readonly logFile: string
  readonly binaries: Binaries
  readonly account: SystemAccount
}

export async function prepareCluster(
  dataDir: string,
  options: {
    binaries: Binaries
    durable: boolean /** Once PostgreSQL creates the folder. */
    onCreate: () => void
  },
): Promise<Cluster> {
  const { binaries } = options
  try {
    const account = await chooseAccount(path.join(dataDir, 'postgres'))
    await mkdir(dataDir, { recursive: true, mode: account.kind === 'other' ? 0o711 : 0o700 })
    const home = await realpath(dataDir)
    const folder = path.join(home, 'postgres')
    await assertReachable(account, { program: binaries.postgres, folder })
    const version = await readVersion(folder)
    if (version === undefined) {
      await removeLeftovers(home)
      await createCluster(folder, { ...options, account })
    } else if (version !== binaries.majorVersion) {
      throw otherVersion(folder, { version, majorVersion: binaries.majorVersion })
    }
    return { folder, logFile: path.join(home, 'postgres.log'), binaries, account }
  } catch (error) {
    throw asFolderFailure(error, dataDir)
  }
}

/** Returns the major version that created the folder; undefined if the folder is missing or empty. */
async function readVersion(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  if (await isEmpty(folder)) return undefined
  throw new StartFailure(
    `${folder} holds something, but no PostgreSQL data (the file PG_VERSION is missing).\n` +
      'Put back what belongs there, or move the folder away to begin with an empty database.',
    { exitCode: exitCodes.settings },
  )
}

async function isEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true
    throw error
  }
}

function otherVersion(folder: string, versions: { version: string; majorVersion: string }): StartFailure {
  const { version, majorVersion } = versions
  const fate = /^\d+$/.test(version)
    ? `${folder} was made by PostgreSQL ${version}; this Tillgate brings PostgreSQL ${majorVersion}.\n` +
      `Run the Tillgate release that made it, or serve it with a PostgreSQL ${version} of your own and set DATABASE_URL.`
    : `${folder}/PG_VERSION is damaged: it reads ${JSON.stringify(version.slice(0, 20))} instead of "${majorVersion}".\n` +
      'Restore the folder from a backup, or move it away to begin with an empty database.'
  return new StartFailure(fate, { exitCode: exitCodes.settings })
}

async function createCluster(
  folder: string,
  {
    account,
    binaries,
    durable,
    onCreate,
  }: { account: SystemAccount; binaries: Binaries; durable: boolean; onCreate: () => void },
): Promise<void> {
  const home = path.dirname(folder)
  const fresh = path.join(home, `postgres.new-${process.pid}-${randomUUID()}`)
  try {
    await mkdir(fresh, { mode: 0o700 })
    await giveTo(account, fresh)
    const args = [`--pgdata=${fresh}`, `--username=${superuser}`, '--no-instructions', '--data-checksums']
    // A fixed collation gives the same order and upper case on every machine.
    args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8')
    // Only the owner and root can reach the socket (see postmaster.ts). A password would have to be stored next to
    // it, readable by the same accounts.
    args.push('--auth=trust')
    if (!durable) args.push('--no-sync')
    // One sync of the file system instead of 1,000 of files: 3.5 s instead of 5.4 s on a busy disk.
    else if (process.platform === 'linux') args.push('--sync-method=syncfs')
    await runInitdb(callAs(account, binaries.initdb, args), onCreate)
    await rename(fresh, folder)
    await syncFolder(home)
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    const code = codeOf(error)
    // Another gateway created its folder first, and that folder is equivalent.
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return
    throw error
  }
}

async function runInitdb(call: ReturnType<typeof callAs>, onStart: () => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  const child = spawn(call.command, call.args, {
    cwd: '/',
    env: programEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(call.uid === undefined ? {} : { uid: call.uid, gid: call.gid }),
  })
  onStart()
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words += text
  })
  child.on('error', reject)
  child.on('close', resolve)
  const exitCode = await promise
  if (exitCode === 0) return
  const reason = fatalLines(words)
  throw new StartFailure(`PostgreSQL could not make its data folder:\n${reason}`, {
    exitCode: exitCodes.cannotCreate,
  })
}

/** PostgreSQL must not inherit secrets or PG… variables from our environment. */
export function programEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '/usr/bin:/bin' } = process.env
  return { PATH, LC_ALL: 'C', TZ: 'UTC' }
}

async function removeLeftovers(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const maker = leftoverPattern.exec(name)?.[1]
    if (maker === undefined || (Number(maker) !== process.pid && isAlive(Number(maker)))) continue
    // The initdb of a killed gateway may still be writing here. The next first start removes the rest.
    await rm(path.join(home, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function asFolderFailure(error: unknown, dataDir: string): unknown {
  if (error instanceof StartFailure || !(error instanceof Error) || !('code' in error)) return error
  if ('syscall' in error && String(error.syscall).startsWith('spawn')) return programFailure(error)
  const advice: Record<string, string> = {
    EACCES: 'this user may not write there',
    EPERM: 'this user may not write there',
    EROFS: 'the disk is mounted read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    ENOTDIR: 'it is, or lies under, a file',
    EEXIST: 'it is a file',
    ENAMETOOLONG: 'the path is too long',
  }
  const reason = advice[String(error.code)]
  if (reason === undefined) return error
  return new StartFailure(
    `The data folder ${path.resolve(dataDir)} cannot be used: ${reason} (${error.message}).\n` +
      'Set DATA_DIR to a folder that this user can write to.',
    { exitCode: exitCodes.cannotCreate, cause: error },
  )
}

function programFailure(error: Error): StartFailure {
  return new StartFailure(
    `PostgreSQL's program cannot be run (${error.message}).\n` +
      'Check that this user may execute the file and that its disk is not mounted noexec. ' +
      'If the file is damaged, install Tillgate again.',
    { exitCode: exitCodes.cannotCreate, cause: error },
  )
}
