// The sandbox's ready-made demo merchant. Its credentials are a file that the SDK reads as it is; the file is the
// truth, and the database is made to agree with it, so that a start which is killed half-way, a lost file, a new
// database and several starts at once all end in a file whose keys open.
import { createPublicKey, generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { makeUuid, parseAesKey, parsePrivateKey, type RandomBytes } from '@tillgate/protocol'
import { makeAuditEntry } from '../core/audit/audit-entries.ts'
import type { AuditedAction } from '../core/audit/rules/effects.ts'
import type { PublishedKey } from '../core/keys/platform-keys.ts'
import { placeOf } from '../core/merchants/merchant-directory.ts'
import { type MerchantKey, newMerchant } from '../core/merchants/rules/merchant.ts'
import type { MerchantStore } from '../core/merchants/store/merchants.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import type { Vault } from '../platform/runtime/secrets/vault.ts'

/** Always the same, so that whoever loses the file finds the same orders again under new keys. */
export const demoMerchantId = '100000000000000001'
/** As the demo shop beside the gateway calls itself (examples/shop). */
export const demoMerchantName = 'Leaf & Cup'

/** As `sandbox-merchant.json` holds them: the AES key in base64, the others as PEM. */
export interface SandboxCredentials {
  readonly gatewayUrl: string
  readonly merchantId: string
  readonly aesKey: string
  readonly privateKey: string
  readonly platformPublicKey: string
}

export interface CredentialsFile {
  /** Undefined: there is none. */
  read(): Promise<string | undefined>
  /** Only where there is none; of several at once one stays. */
  writeFirst(text: string): Promise<void>
  /** At once or not at all. */
  replace(text: string): Promise<void>
}

export interface SandboxMerchantParts extends ClockAndRandom {
  readonly merchants: MerchantStore
  readonly vault: Vault
  readonly file: CredentialsFile
  readonly platformKeys: () => Promise<readonly PublishedKey[]>
  readonly gatewayUrl: string
  /** Whether another gateway on this very database answers at an address. */
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

/** A second gateway beside the first leaves the file to the first; one that has moved takes its address along. */
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

/** The address and the gateway's key follow the gateway, whoever wrote the file. */
async function complete(secrets: Secrets, parts: SandboxMerchantParts): Promise<SandboxCredentials> {
  const [newest] = await parts.platformKeys()
  if (!newest) throw new Error('the gateway has no key of its own')
  const { gatewayUrl } = parts
  return { gatewayUrl, merchantId: demoMerchantId, ...secrets, platformPublicKey: newest.publicKey }
}

function serialise(credentials: SandboxCredentials): string {
  return `${JSON.stringify(credentials, null, 2)}\n`
}

/** Undefined where the file is not ours or is damaged; a new one then takes its place. */
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

/** An operator took one of its keys away, and it stays away. */
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
    // Revoked long ago, and sealed under a master key of then.
    return false
  }
}

function publicHalf({ privateKey }: Secrets): string {
  return createPublicKey(parsePrivateKey(privateKey)).export({ type: 'spki', format: 'pem' }).toString()
}

/** Makes the database know the keys. Two at once may both add a key: the same one twice does no harm. */
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
    // Unless another gateway was quicker: then the merchant is there, and only keys may be missing.
    if (!(await merchants.insertMerchant(merchant, missing, added))) await register(secrets, parts)
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
