// The vault seals the secrets that rest in the database (AES keys, our private keys) under a master key that is
// not in it. A sealed secret is bound to its place: moved to another row, it does not open.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
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
import type { Config } from './config.ts'
import { exitCodes, StartFailure } from './start-failure.ts'

export interface Vault {
  /** Tells master keys apart without telling anything about them. */
  readonly masterKeyId: Buffer
  seal(secret: Buffer, place: string): Buffer
  open(sealed: Buffer, place: string): Buffer
  /** A key of 32 bytes for one purpose, the same in every process; nothing about another purpose follows from it. */
  deriveKey(purpose: string): Buffer
}

// One byte of version, the master key's id, the nonce, the ciphertext, the tag.
const version = 1
const idBytes = 8
const nonceBytes = 12
const tagBytes = 16
const headerBytes = 1 + idBytes + nonceBytes

export function makeVault(masterKey: Buffer): Vault {
  const masterKeyId = createHash('sha256')
    .update('tillgate master key')
    .update(masterKey)
    .digest()
    .subarray(0, idBytes)
  return {
    masterKeyId,
    seal(secret, place) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(place))
      const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()])
      return Buffer.concat([Buffer.from([version]), masterKeyId, nonce, ciphertext, cipher.getAuthTag()])
    },
    open(sealed, place) {
      if (sealed.length < headerBytes + tagBytes || sealed[0] !== version)
        throw new Error('not a sealed secret')
      if (!masterKeyIdOf(sealed).equals(masterKeyId)) throw new Error('sealed under another master key')
      const nonce = sealed.subarray(1 + idBytes, headerBytes)
      const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      return Buffer.concat([decipher.update(sealed.subarray(headerBytes, -tagBytes)), decipher.final()])
    },
    deriveKey: (purpose) => Buffer.from(hkdfSync('sha256', masterKey, '', `tillgate ${purpose}`, 32)),
  }
}

export function masterKeyIdOf(sealed: Buffer): Buffer {
  return sealed.subarray(1, 1 + idBytes)
}

/** From the environment, from a file, or, in the sandbox alone, from a file that we make ourselves. */
export function loadMasterKey(
  config: Pick<Config, 'mode' | 'masterKey' | 'masterKeyFile' | 'dataDir'>,
): Buffer {
  if (config.masterKey) return config.masterKey
  if (config.masterKeyFile) return readKeyFile(config.masterKeyFile, 'MASTER_KEY_FILE')
  const path = join(config.dataDir, 'master.key')
  try {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
    if (!existsSync(path)) makeKeyFile(path)
  } catch (error) {
    throw new StartFailure(`The folder DATA_DIR cannot be written: ${(error as Error).message}`, {
      exitCode: exitCodes.cannotCreate,
      cause: error,
    })
  }
  return readKeyFile(path, 'The master key file')
}

/** Whole or not at all, whenever it is cut short, and once, whoever else makes it at this very moment. */
function makeKeyFile(path: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function readKeyFile(path: string, what: string): Buffer {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new StartFailure(`${what} cannot be read: ${(error as Error).message}`, {
      exitCode: exitCodes.settings,
    })
  }
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32 || key.toString('base64') !== text) {
    throw new StartFailure(
      `${what} (${path}) must hold 32 bytes in base64; make one with: openssl rand -base64 32`,
      { exitCode: exitCodes.settings },
    )
  }
  return key
}
