// Writes a backup to a file: compressed, optionally encrypted, readable by its owner only, and renamed to its final
// name once it is complete and synced.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline as pipelineInBackground } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { codeOf, messageOf } from '../../runtime/errors.ts'
import { StartFailure } from '../../runtime/start-failure.ts'
import {
  type BackupDecryption,
  type BackupEncryption,
  decrypted,
  encrypted,
  encryptedBeginning,
  makeEncrypter,
} from './backup-encryption.ts'

export async function writeBackupFile<Result>(
  path: string,
  fill: (write: (text: string) => Promise<void>) => Promise<Result>,
  encryption?: BackupEncryption,
): Promise<Result> {
  const encrypter = encryption && makeEncrypter(encryption)
  if (existsSync(path)) throw alreadyThere(path)
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.part`
  const gzip = createGzip()
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  const written = (encrypter ? encrypted(gzip, encrypter) : Promise.resolve(gzip)).then((source) =>
    pipeline(source, file),
  )
  // The writer below or the final rename reports the failure.
  written.catch(() => {})
  try {
    const result = await fill(async (text) => {
      if (!gzip.write(text)) await Promise.race([once(gzip, 'drain'), written])
    })
    gzip.end()
    await written
    await giveName(draft, path)
    await syncFolder(dirname(path))
    return result
  } catch (error) {
    gzip.destroy()
    throw fileTrouble(error, path)
  } finally {
    await unlink(draft).catch(() => {})
  }
}

export async function* readBackupFile(path: string, decryption?: BackupDecryption): AsyncIterable<string> {
  const text = createGunzip().setEncoding('utf8')
  const isEncrypted = await beginsEncrypted(path)
  if (isEncrypted && !decryption)
    throw new StartFailure(
      'This backup is encrypted. Give --passphrase-file or --identity-file. Nothing was restored.',
    )
  // An attacker who can replace the file could otherwise have an unencrypted backup restored.
  if (decryption && !isEncrypted)
    throw new StartFailure(
      'This backup is not encrypted, although a passphrase or an identity was given: it may not be the one that you made. Nothing was restored.\nIf you know that it is yours, leave out --passphrase-file and --identity-file.',
    )
  const file = createReadStream(path)
  const source = decryption ? decrypted(file, decryption) : file
  // The loop below ends with the error of either stream.
  pipelineInBackground(source, text, () => {})
  let rest = ''
  for await (const chunk of text as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

async function beginsEncrypted(path: string): Promise<boolean> {
  const handle = await open(path, 'r')
  try {
    const { buffer } = await handle.read(Buffer.alloc(encryptedBeginning.length))
    return buffer.equals(encryptedBeginning)
  } finally {
    await handle.close()
  }
}

/**
 * Reserves the name first, so that a taken name fails. A hard link would do both at once, but FAT and many network
 * shares have none.
 */
async function giveName(draft: string, path: string): Promise<void> {
  await (await open(path, 'wx', 0o600)).close()
  try {
    await rename(draft, path)
  } catch (error) {
    await unlink(path).catch(() => {})
    throw error
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } catch (error) {
    // Network shares that cannot sync a folder fail with EINVAL. The file itself is already synced.
    if (codeOf(error) !== 'EINVAL') throw error
  } finally {
    await handle.close()
  }
}

const fileCodes = new Set([
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EISDIR',
])

function fileTrouble(error: unknown, path: string): unknown {
  const code = codeOf(error)
  if (code === 'EEXIST') return alreadyThere(path)
  return code !== undefined && fileCodes.has(code)
    ? new StartFailure(`${path}: ${messageOf(error)}`, { cause: error })
    : error
}

function alreadyThere(path: string): StartFailure {
  return new StartFailure(`${path} is there already. Choose another name: a backup never replaces a file.`)
}
