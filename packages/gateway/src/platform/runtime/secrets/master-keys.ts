// Loads the master key. During a rotation there are several, separated by commas or lines: the first seals, all of
// them open.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf, messageOf } from '../errors.ts'
import { exitCodes, StartFailure } from '../start-failure.ts'

export interface KeyConfig {
  readonly masterKey: Buffer | undefined
  readonly otherMasterKeys: readonly Buffer[]
  readonly masterKeyFile: string | undefined
  readonly dataDir: string
}

export type MasterKeys = readonly [Buffer, ...Buffer[]]

/** Reads the environment or a file; in the sandbox, creates the file if it is missing. */
export function loadMasterKeys(config: KeyConfig): MasterKeys {
  const found = findMasterKeys(config)
  if (found) return found
  const path = ownKeyFile(config)
  try {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
    if (!existsSync(path)) makeKeyFile(path)
  } catch (error) {
    throw new StartFailure(`The folder DATA_DIR cannot be written: ${messageOf(error)}`, {
      exitCode: exitCodes.cannotCreate,
      cause: error,
    })
  }
  return readKeyFile(path, 'The master key file')
}

/** Undefined if the sandbox would have to create one. */
export function findMasterKeys(config: KeyConfig): MasterKeys | undefined {
  if (config.masterKey) return [config.masterKey, ...config.otherMasterKeys]
  if (config.masterKeyFile) return readKeyFile(config.masterKeyFile, 'MASTER_KEY_FILE')
  const path = ownKeyFile(config)
  return existsSync(path) ? readKeyFile(path, 'The master key file') : undefined
}

function ownKeyFile({ dataDir }: Pick<KeyConfig, 'dataDir'>): string {
  return join(dataDir, 'master.key')
}

/** Atomic against crashes and concurrent starts. */
function makeKeyFile(path: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function readKeyFile(path: string, what: string): MasterKeys {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new StartFailure(`${what} cannot be read: ${messageOf(error)}`, {
      exitCode: exitCodes.settings,
    })
  }
  try {
    return parseMasterKeys(text)
  } catch (error) {
    throw new StartFailure(`${what} (${path}) ${messageOf(error)}`, { exitCode: exitCodes.settings })
  }
}

export function parseMasterKeys(text: string): MasterKeys {
  const keys = text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => {
      const key = Buffer.from(word, 'base64')
      if (key.length !== 32 || key.toString('base64') !== word)
        throw new Error('must hold 32 bytes in base64; make one with: openssl rand -base64 32')
      return key
    })
  const [first, ...others] = keys
  if (!first) throw new Error('must hold 32 bytes in base64; make one with: openssl rand -base64 32')
  if (new Set(keys.map((key) => key.toString('base64'))).size < keys.length)
    throw new Error('names the same key twice')
  return [first, ...others]
}
