// Chooses the system account for the embedded server, because PostgreSQL refuses to run as root.
import { execFile } from 'node:child_process'
import { chown, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../../runtime/errors.ts'
import { exitCodes, StartFailure } from '../../runtime/start-failure.ts'

const run = promisify(execFile)

/** The uid of "nobody" on nearly every Unix, and of unmapped owners in a user namespace. */
const nobody = 65534

export type SystemAccount =
  | { readonly kind: 'self'; readonly uid: number }
  // Root under another uid inside its own user namespace: PostgreSQL sees an ordinary user, while the kernel still
  // sees the files' owner. Folders that only root may enter work, and no owner changes.
  | { readonly kind: 'renumbered'; readonly uid: 0 }
  | { readonly kind: 'other'; readonly uid: number; readonly gid: number }

interface Call {
  readonly command: string
  readonly args: readonly string[]
  readonly uid?: number
  readonly gid?: number
}

export async function chooseAccount(clusterFolder: string): Promise<SystemAccount> {
  const uid = process.getuid?.()
  if (uid === undefined) {
    throw new StartFailure('The embedded PostgreSQL needs Linux or macOS. Set DATABASE_URL instead.', {
      exitCode: exitCodes.settings,
    })
  }
  if (uid !== 0) return { kind: 'self', uid }
  const owner = await ownerOf(clusterFolder)
  // An ordinary user created the folder. Running as that user lets them start the server again themselves.
  if (owner !== undefined && owner.uid !== 0) return { kind: 'other', uid: owner.uid, gid: owner.gid }
  if (await canRenumber()) return { kind: 'renumbered', uid: 0 }
  return { kind: 'other', uid: nobody, gid: nobody }
}

export function callAs(account: SystemAccount, program: string, args: readonly string[]): Call {
  if (account.kind === 'self') return { command: program, args }
  if (account.kind === 'other') return { command: program, args, uid: account.uid, gid: account.gid }
  return { command: 'unshare', args: ['--user', `--map-user=${nobody}`, '--', program, ...args] }
}

export async function giveTo(account: SystemAccount, folder: string): Promise<void> {
  if (account.kind !== 'other') return
  if ((await stat(folder)).uid === account.uid) return
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isSymbolicLink())
      await chown(path.join(entry.parentPath, entry.name), account.uid, account.gid)
  }
  // The folder's owner changes last, because it marks the handover as complete.
  await chown(folder, account.uid, account.gid)
}

/** Another account must be able to enter every parent folder; this check fails with a clear message. */
export async function assertReachable(
  account: SystemAccount,
  { program, folder }: { program: string; folder: string },
): Promise<void> {
  if (account.kind !== 'other') return
  for (const target of [program, folder]) {
    const closed = await firstClosedFolder(path.dirname(target), account)
    if (closed === undefined) continue
    throw new StartFailure(
      `PostgreSQL may not run as root, and as user ${account.uid} it cannot enter ${closed}.\n` +
        'Start Tillgate as an ordinary user, open that folder (chmod o+x), or set DATABASE_URL.',
      { exitCode: exitCodes.settings },
    )
  }
}

async function firstClosedFolder(
  folder: string,
  account: { uid: number; gid: number },
): Promise<string | undefined> {
  const parent = path.dirname(folder)
  const above = parent === folder ? undefined : await firstClosedFolder(parent, account)
  if (above !== undefined) return above
  const { uid, gid, mode } = await stat(folder)
  const mayEnter = uid === account.uid ? mode & 0o100 : gid === account.gid ? mode & 0o010 : mode & 0o001
  return mayEnter ? undefined : folder
}

async function ownerOf(folder: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    return await stat(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

// Containers often forbid new user namespaces, so the only reliable test is to create one.
async function canRenumber(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  try {
    await run('unshare', ['--user', `--map-user=${nobody}`, '--', 'true'])
    return true
  } catch {
    return false
  }
}
