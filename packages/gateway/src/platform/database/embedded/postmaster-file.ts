// Reads postmaster.pid, which identifies a running PostgreSQL, and removes the file if its process is not PostgreSQL.
import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, readlink, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../runtime/errors.ts'

export interface Postmaster {
  readonly pid: number
  readonly socketFolder: string
}

export async function readPostmasterFile(folder: string): Promise<Postmaster | undefined> {
  const text = await readIfThere(path.join(folder, 'postmaster.pid'))
  if (text === undefined) return undefined
  // The file grows while the server starts, so lines may be missing.
  const lines = text.split('\n')
  const pid = Number.parseInt(lines[0] ?? '', 10)
  const socketFolder = lines[4]?.trim()
  if (!Number.isInteger(pid) || pid <= 0 || !socketFolder) return undefined
  return { pid, socketFolder }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/**
 * After a power failure, the recorded pid may belong to another process (in a container it nearly always does), and
 * PostgreSQL would refuse to start. PostgreSQL processes run inside the data folder, which Linux reports.
 */
export async function isServed(folder: string): Promise<boolean> {
  const text = await readIfThere(path.join(folder, 'postmaster.pid'))
  if (text === undefined) return false
  const pid = Number.parseInt(text, 10)
  if (!Number.isInteger(pid) || !isAlive(pid)) return false
  if (process.platform !== 'linux') return true
  return (await workingFolder(pid)) === folder || (await someoneWorksIn(folder))
}

/**
 * Removes lock files that would stop PostgreSQL from starting although no server runs: those that name a process that
 * is not PostgreSQL, and empty files left by a full disk or a power failure.
 */
export async function removeStrayLocks(folder: string, socketFolder: string): Promise<void> {
  if (process.platform !== 'linux') return
  const locks = [path.join(folder, 'postmaster.pid'), path.join(socketFolder, '.s.PGSQL.5432.lock')]
  for (const lock of locks) {
    const before = await readIfThere(lock)
    if (before === undefined || (before !== '' && !isAlive(Number.parseInt(before, 10)))) continue
    if (await someoneWorksIn(folder)) return
    // Another gateway may have replaced the file since the check, so the file is moved aside and checked again before
    // it is deleted.
    const aside = `${lock}.${randomUUID()}`
    await rename(lock, aside).catch(() => {})
    if ((await readIfThere(aside)) !== before) await link(aside, lock).catch(() => {})
    await rm(aside, { force: true })
  }
}

async function someoneWorksIn(folder: string): Promise<boolean> {
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name) && (await workingFolder(Number(name))) === folder) return true
  }
  return false
}

async function workingFolder(pid: number): Promise<string | undefined> {
  try {
    return await readlink(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
