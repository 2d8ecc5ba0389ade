// Chooses the folder of the server's unix socket: its data folder, or a short private folder if the path would exceed
// the kernel's limit of about a hundred bytes.
import { createHash } from 'node:crypto'
import { chown, lstat, mkdir } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { codeOf } from '../../runtime/errors.ts'
import { StartFailure } from '../../runtime/start-failure.ts'
import type { SystemAccount } from './system-account.ts'

// The size of sockaddr_un.sun_path without the terminating zero byte.
const socketPathMaxBytes = process.platform === 'darwin' ? 103 : 107

export async function socketFolderFor(
  clusterFolder: string,
  { account, shortHome = os.tmpdir() }: { account: SystemAccount; shortHome?: string },
): Promise<string> {
  if (Buffer.byteLength(socketFile(clusterFolder)) <= socketPathMaxBytes) return clusterFolder
  const key = createHash('sha256').update(clusterFolder).digest('hex').slice(0, 16)
  const folder = path.join(shortHome, `tillgate-${account.uid}-${key}`)
  if (Buffer.byteLength(socketFile(folder)) > socketPathMaxBytes) {
    throw new StartFailure(
      `The path of DATA_DIR is too long for a unix socket, and so is that of the temporary folder ${shortHome}.\n` +
        'Set DATA_DIR to a shorter path, or TMPDIR to one such as /tmp.',
    )
  }
  await makePrivate(folder, account)
  return folder
}

function socketFile(folder: string): string {
  return `${folder}/.s.PGSQL.5432`
}

// The temporary folder is shared: another account may have created this name to listen in our server's place.
async function makePrivate(folder: string, account: SystemAccount): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
    if (account.kind === 'other') await chown(folder, account.uid, account.gid)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  const found = await lstat(folder)
  if (found.isDirectory() && found.uid === account.uid && (found.mode & 0o077) === 0) return
  throw new StartFailure(
    `${folder}, where PostgreSQL's socket belongs, is not a private folder of user ${account.uid}.\n` +
      'Remove it, or set DATA_DIR to a shorter path.',
  )
}
