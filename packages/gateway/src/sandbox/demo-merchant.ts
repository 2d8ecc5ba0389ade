// The sandbox's demo merchant. The SDK reads its credentials file as is. The file is authoritative, and the database is
// made to match it, so that an interrupted start, a lost file, a new database or several concurrent starts all end in a
// file with working keys.
import { createPublicKey, generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { makeUuid, parseAesKey, parsePrivateKey, type RandomBytes } from '@tillgate/protocol'
import { makeAuditEntry } from '../core/audit/audit-entries.ts'
import type { AuditedAction } from '../core/authority/rules/effects.ts'
import type { PublishedKey } from '../core/keys/platform-keys.ts'
import { hashOfLogo } from '../core/merchants/manage-merchants.ts'
import { placeOf } from '../core/merchants/merchant-directory.ts'
import { readLogo } from '../core/merchants/rules/logo.ts'
import { type MerchantKey, newMerchant } from '../core/merchants/rules/merchant.ts'
import type { MerchantStore } from '../core/merchants/store/merchants.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import type { Vault } from '../platform/runtime/secrets/vault.ts'
import { demoLogo } from './demo-logo.ts'

/** Constant, so that a person who loses the file finds the same orders again under new keys. */
export const demoMerchantId = '100000000000000001'
/** The name that the demo shop in examples/shop uses. */
export const demoMerchantName = 'Leaf & Cup'

/** The content of `sandbox-merchant.json`: the AES key in base64, the others as PEM. */
export interface SandboxCredentials {
  readonly gatewayUrl: string
  readonly merchantId: string
  readonly aesKey: string
  readonly privateKey: string
  readonly platformPublicKey: string
}

export interface CredentialsFile {
  /** Undefined if the file does not exist. */
  read(): Promise<string | undefined>
  /** Only if no file exists; of several concurrent writers, one succeeds. */
  writeFirst(text: string): Promise<void>
  /** Atomic. */
  replace(text: string): Promise<void>
}

export interface SandboxMerchantParts extends ClockAndRandom {
  readonly merchants: MerchantStore
  readonly vault: Vault
  readonly file: CredentialsFile
  readonly platformKeys: () => Promise<readonly PublishedKey[]>
  readonly gatewayUrl: string
  /** Whether another gateway on this database responds at an address. */
  readonly isServed: (gatewayUrl: string) => Promise<boolean>
}

type Secrets = Pick<SandboxCredentials, 'aesKey' | 'privateKey'>

const rsaBits = 2048
const aesKeyBytes = 32
const actor = 'gateway'

export async function ensureSandboxMerchant(parts: SandboxMerchantParts): Promise<SandboxCredentials> {
  const { file } = parts
  let text = await file.read()
  if (text === undefined) {
    await file.writeFirst(serialise(await complete(await makeSecrets(parts.random), parts)))
    text = await file.read()
  }
  let secrets = readSecrets(text)
  if (!secrets || (await isRevoked(secrets, parts))) secrets = await makeSecrets(parts.random)
  const credentials = await complete(secrets, { ...parts, gatewayUrl: await addressFor(text, parts) })
  if (serialise(credentials) !== text) await file.replace(serialise(credentials))
  await register(secrets, parts)
  return credentials
}

/** A second gateway leaves the file to the first. A gateway that moved updates the address. */
async function addressFor(text: string | undefined, parts: SandboxMerchantParts): Promise<string> {
  const [, known] = /"gatewayUrl":\s*"([^"]+)"/.exec(text ?? '') ?? []
  const isOther = known !== undefined && known !== parts.gatewayUrl
  return isOther && (await parts.isServed(known)) ? known : parts.gatewayUrl
}

async function makeSecrets(random: RandomBytes): Promise<Secrets> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: rsaBits,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return { aesKey: Buffer.from(random(aesKeyBytes)).toString('base64'), privateKey }
}

/** The address and the gateway's key always follow the gateway. */
async function complete(secrets: Secrets, parts: SandboxMerchantParts): Promise<SandboxCredentials> {
  const [newest] = await parts.platformKeys()
  if (!newest) throw new Error('the gateway has no key of its own')
  const { gatewayUrl } = parts
  return { gatewayUrl, merchantId: demoMerchantId, ...secrets, platformPublicKey: newest.publicKey }
}

function serialise(credentials: SandboxCredentials): string {
  return `${JSON.stringify(credentials, null, 2)}\n`
}

/** Undefined if the file is foreign or damaged; a new one replaces it. */
function readSecrets(text: string | undefined): Secrets | undefined {
  try {
    const { merchantId, aesKey, privateKey } = JSON.parse(text ?? '') as Partial<SandboxCredentials>
    if (merchantId !== demoMerchantId || aesKey === undefined || privateKey === undefined) return undefined
    parseAesKey(aesKey)
    parsePrivateKey(privateKey)
    return { aesKey, privateKey }
  } catch {
    return undefined
  }
}

/** A key that an operator revoked stays revoked. */
async function isRevoked(secrets: Secrets, parts: SandboxMerchantParts): Promise<boolean> {
  const keys = await parts.merchants.listKeys(demoMerchantId)
  const same = keys.filter((key) => isSame(key, secrets, parts.vault))
  return (['rsa', 'aes'] as const).some((kind) => {
    const ofKind = same.filter((key) => key.kind === kind)
    return ofKind.length > 0 && ofKind.every((key) => key.revokedAtMs !== undefined)
  })
}

function isSame(key: MerchantKey, secrets: Secrets, vault: Vault): boolean {
  if (key.kind === 'rsa') return key.publicKey === publicHalf(secrets)
  try {
    return vault.open(key.sealedKey, placeOf(key)).toString('base64') === secrets.aesKey
  } catch {
    // It was revoked long ago and is sealed under an older master key.
    return false
  }
}

function publicHalf({ privateKey }: Secrets): string {
  return createPublicKey(parsePrivateKey(privateKey)).export({ type: 'spki', format: 'pem' }).toString()
}

/** Adds the keys to the database. Two processes may add the same key, which is harmless. */
async function register(secrets: Secrets, parts: SandboxMerchantParts): Promise<void> {
  const { merchants, vault, clock, random } = parts
  const nowMs = clock.now()
  const found = await merchants.findMerchant(demoMerchantId)
  const live = found?.keys ?? []
  const missing = makeKeys(secrets, parts).filter(
    (key) => !live.some((each) => each.kind === key.kind && isSame(each, secrets, vault)),
  )
  const entry = (name: AuditedAction, subject: string, reason: string) =>
    makeAuditEntry({ clock, random }, { actor }, name, subject, { merchantId: demoMerchantId, reason })
  if (!found) {
    const merchant = newMerchant({ merchantId: demoMerchantId, name: demoMerchantName, createdAtMs: nowMs })
    const added = entry('merchant.add', demoMerchantId, 'sandbox demo merchant')
    // If another gateway inserted the merchant first, only keys may be missing.
    if (!(await merchants.insertMerchant(merchant, missing, added))) return register(secrets, parts)
    const logo = readLogo(demoLogo, hashOfLogo)
    const drawn = entry('merchant.logo', demoMerchantId, 'sandbox demo merchant')
    await merchants.setLogo(demoMerchantId, logo, drawn)
    return
  }
  for (const key of missing) {
    const add = () => merchants.insertKey(key, entry('key.add', key.keyId, 'sandbox demo merchant'))
    if (await add()) continue
    const [oldest] = live.filter(({ kind }) => kind === key.kind)
    if (oldest) {
      await merchants.revokeKey({ merchantId: demoMerchantId, keyId: oldest.keyId, nowMs }, () =>
        entry('key.revoke', oldest.keyId, 'its file is gone, and a merchant has two keys at most'),
      )
    }
    await add()
  }
}

function makeKeys(secrets: Secrets, { vault, clock, random }: SandboxMerchantParts): readonly MerchantKey[] {
  const createdAtMs = clock.now()
  const base = () => ({
    merchantId: demoMerchantId,
    keyId: makeUuid(createdAtMs, random),
    createdAtMs,
    revokedAtMs: undefined,
  })
  const aes = base()
  const sealedKey = vault.seal(Buffer.from(secrets.aesKey, 'base64'), placeOf(aes))
  return [
    { ...aes, kind: 'aes', sealedKey },
    { ...base(), kind: 'rsa', publicKey: publicHalf(secrets) },
  ]
}
