// `sandbox-merchant.json` and `sandbox-rail.json` in DATA_DIR: written atomically and readable only by their owner.
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../platform/runtime/errors.ts'
import type { CredentialsFile } from '../../sandbox/demo-merchant.ts'

const merchantFile = 'sandbox-merchant.json'

export function sandboxFilePath(dataDir: string): string {
  return join(dataDir, merchantFile)
}

export function sandboxFile(dataDir: string, name = merchantFile): CredentialsFile {
  const path = join(dataDir, name)

  /** Complete and synced before it is renamed. */
  async function written(text: string, place: (temporary: string) => Promise<void>): Promise<void> {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    const temporary = `${path}.${randomBytes(6).toString('hex')}`
    try {
      const file = await open(temporary, 'wx', 0o600)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await place(temporary)
    } finally {
      await rm(temporary, { force: true })
    }
  }

  return {
    async read() {
      try {
        return await readFile(path, 'utf8')
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined
        throw error
      }
    },
    writeFirst: (text) =>
      written(text, async (temporary) => {
        // A link never replaces an existing file. On file systems without links, the last writer wins.
        await link(temporary, path).catch((error: NodeJS.ErrnoException) =>
          error.code === 'EEXIST' ? undefined : rename(temporary, path),
        )
      }),
    replace: (text) => written(text, (temporary) => rename(temporary, path)),
  }
}

/** An error of the file system, not of the database. */
export function isFileTrouble(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error
}
