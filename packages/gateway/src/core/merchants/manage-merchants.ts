// Operators' actions on merchants and their keys, each recorded in the audit log. A secret is shown once, when it is
// created.

import { createHash } from 'node:crypto'
import { Failure, KeyError, makeUuid, parsePublicKey, type RandomBytes } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { hostOf } from '../../platform/runtime/ssrf-guard.ts'
import { parseLine } from '../../platform/runtime/visible-text.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import type { AuditEntry } from '../audit/rules/audit.ts'
import { checkShownOnce } from '../audit/rules/shown-once.ts'
import { type AnyContext, type Context, reading } from '../authority/context.ts'
import type { Effect } from '../authority/rules/effects.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import { parseEmail, writtenTime } from '../emails/rules/email.ts'
import { fingerprintOf } from './key-fingerprint.ts'
import { placeOf } from './merchant-directory.ts'
import { describeBreakage } from './rules/describe-breakage.ts'
import { type Breakage, breakageOf, callbackKey, type UsedKey } from './rules/key-use.ts'
import { readLogo } from './rules/logo.ts'
import {
  checkHosts,
  describeChanges,
  type Merchant,
  type MerchantKey,
  type MerchantSettings,
  makeMerchantId,
  type NewKey,
} from './rules/merchant.ts'
import type { MerchantChanges, MerchantStore } from './store/merchants.ts'
import { bindWithin } from './within.ts'

export interface ManageMerchantsParts extends ClockAndRandom {
  readonly makeEmails: MakeEmails
  readonly stores: { readonly merchants: MerchantStore }
  readonly vault: Vault
  /** Returns why this merchant's callbacks may not go to this address. If omitted, all addresses are allowed. */
  readonly refusalOfCallbackUrl?: (url: string, merchant: Merchant) => string | undefined
}

export interface MadeKey {
  readonly keyId: string
  /** An AES key in base64, shown only once; undefined for a public key, which is not secret. */
  readonly secret: string | undefined
}

export type ShownKey = UsedKey & { readonly sealsCallbacks: boolean }

export interface UseForCallbacks {
  readonly merchantId: string
  readonly keyId: string
  readonly reason: string
}

export interface RevokeKey extends UseForCallbacks {
  /** Proceeds even if requests or callbacks break. */
  readonly confirm?: boolean | undefined
}

export interface NewMerchant extends Omit<MerchantSettings, 'name'> {
  /** Keeps the id from another implementation of the interface; if omitted, a new one is generated. */
  readonly merchantId?: string
  readonly name: string
  readonly publicKey?: string
  readonly isSelfRegistered?: boolean
  /** A repeated request with the same id creates one merchant. */
  readonly idempotencyKey?: string | undefined
}

export interface MadeMerchant {
  readonly merchant: Merchant
  /** In base64, shown only once. */
  readonly aesKey: string
}

const aesKeyBytes = 32
/** The effects of settings that name the receiver of callbacks and warnings, or the name that consumers pay to. */
const effectsOfSettings = {
  callbackHosts: 'gives access to money',
  defaultCallbackUrl: 'gives access to money',
  contactEmails: 'gives access to money',
  name: 'names where money goes',
} as const satisfies { readonly [Name in keyof MerchantSettings]?: Effect }

type Parts = ManageMerchantsParts

export function makeManageMerchants(parts: ManageMerchantsParts) {
  const { merchants } = parts.stores
  return {
    listMerchants: reading(merchants.listMerchants),
    ...bindWithin(parts, {
      addMerchant,
      suspendMerchant,
      resumeMerchant,
      changeMerchant: changeMerchantSettings,
      setLogo,
      showMerchant,
      addKey,
      revokeKey: revokeUnneededKey,
      useForCallbacks,
    }),
  }
}

function suspendMerchant(parts: Parts, context: AnyContext, merchantId: string, reason: string) {
  return setStatus(parts, context, merchantId, 'suspended', reason)
}

function resumeMerchant(parts: Parts, context: AnyContext, merchantId: string, reason: string) {
  return setStatus(parts, context, merchantId, 'active', reason)
}

async function addMerchant(
  parts: Parts,
  context: AnyContext,
  { publicKey, idempotencyKey, ...given }: NewMerchant,
): Promise<MadeMerchant> {
  const settings = { ...given, ...checkSettings(given) }
  const merchant: Merchant = {
    merchantId:
      settings.merchantId ??
      makeMerchantId(idempotencyKey === undefined ? parts.random : bytesFrom(idempotencyKey)),
    name: settings.name ?? given.name,
    status: 'active',
    requestsPerSecond: settings.requestsPerSecond,
    callbackHosts: settings.callbackHosts,
    accentColour: settings.accentColour,
    defaultCallbackUrl: settings.defaultCallbackUrl,
    hasHadDefaultCallback: settings.defaultCallbackUrl !== undefined,
    logoHash: undefined,
    contactEmails: settings.contactEmails,
    contactLanguage: settings.contactLanguage,
    isSelfRegistered: settings.isSelfRegistered ?? false,
    createdAtMs: parts.clock.now(),
  }
  checkCallbackUrl(parts, merchant, { ...merchant, defaultCallbackUrl: undefined })
  const { merchantId } = merchant
  const aes = makeKey(parts, merchantId, { kind: 'aes' }, idempotencyKey)
  const keys = publicKey === undefined ? [aes] : [aes, makeKey(parts, merchantId, { kind: 'rsa', publicKey })]
  const isNew = await parts.stores.merchants.insertMerchant(
    merchant,
    keys.map(({ key }) => key),
    makeAuditEntry(parts, context, 'merchant.add', merchantId, { merchantId }),
  )
  return isNew ? { merchant, aesKey: aes.secret } : madeBefore(parts, merchantId, idempotencyKey)
}

/** Records the old and new values; without a change, nothing is recorded. */
async function changeMerchantSettings(
  parts: Parts,
  context: Context,
  merchantId: string,
  given: MerchantSettings,
  { reason }: { readonly reason: string },
): Promise<Merchant> {
  const settings = checkSettings(given)
  return change(parts, merchantId, settings, (before) => {
    checkCallbackUrl(parts, { ...before, ...settings }, before)
    const changes = describeChanges(before, settings)
    if (changes === '') return undefined
    return makeAuditEntry(parts, context, 'merchant.change', merchantId, {
      merchantId,
      reason: `${changes}: ${reason}`,
      effects: effectsOfChange(before, settings),
    })
  })
}

function effectsOfChange(before: Merchant, settings: MerchantSettings): readonly Effect[] {
  // Safe: these are its own keys.
  const names = Object.keys(effectsOfSettings) as (keyof typeof effectsOfSettings)[]
  return names
    .filter((name) => name in settings && describeChanges(before, { [name]: settings[name] }) !== '')
    .map((name) => effectsOfSettings[name])
}

/** PNG, JPEG or WebP in base64; undefined removes the logo. */
async function setLogo(
  parts: Parts,
  context: Context,
  merchantId: string,
  image: string | undefined,
): Promise<void> {
  const logo = image === undefined ? undefined : readLogo(Buffer.from(image, 'base64'), hashOfLogo)
  const recorded = makeAuditEntry(parts, context, 'merchant.logo', merchantId, {
    merchantId,
    reason: logo?.hash ?? 'removed',
  })
  if (!(await parts.stores.merchants.setLogo(merchantId, logo, recorded))) noMerchant(merchantId)
}

async function showMerchant(
  parts: Parts,
  _context: Context,
  merchantId: string,
): Promise<{ merchant: Merchant; keys: readonly ShownKey[] }> {
  const merchant = await find(parts, merchantId)
  const keys = await parts.stores.merchants.listKeys(merchantId)
  const sealing = callbackKey(keys)
  return { merchant, keys: keys.map((key) => ({ ...key, sealsCallbacks: key === sealing })) }
}

async function addKey(
  parts: Parts,
  context: Context,
  merchantId: string,
  key: NewKey,
  { reason }: { readonly reason?: string } = {},
): Promise<MadeKey> {
  await find(parts, merchantId)
  const made = makeKey(parts, merchantId, key)
  const recorded = makeAuditEntry(parts, context, 'key.add', made.key.keyId, {
    merchantId,
    reason,
    emails: parts.makeEmails('key-added', {
      merchantId,
      parameters: { key: named(made.key), time: writtenTime(parts.clock.now()) },
    }),
  })
  if (!(await parts.stores.merchants.insertKey(made.key, recorded))) throw tooManyKeys(merchantId, key)
  return { keyId: made.key.keyId, secret: made.secret }
}

/** Throws if revoking breaks requests or callbacks, unless `confirm` is set. */
async function revokeUnneededKey(
  parts: Parts,
  context: Context,
  { merchantId, keyId, reason, confirm }: RevokeKey,
): Promise<void> {
  const nowMs = parts.clock.now()
  const revoked = await parts.stores.merchants.revokeKey({ merchantId, keyId, nowMs }, (keys) => {
    const key = keys.find((each) => each.keyId === keyId && each.revokedAtMs === undefined)
    if (!key) return undefined
    const [first, ...more] = breakageOf(keys, key, nowMs)
    if (first && !confirm) throw keyStillNeeded(key, [first, ...more], nowMs)
    return makeAuditEntry(parts, context, 'key.revoke', keyId, { merchantId, reason })
  })
  if (!revoked) throw noLiveKey(merchantId, keyId)
}

/** Seals callbacks with this AES key until requests use another one. */
async function useForCallbacks(
  parts: Parts,
  context: Context,
  { merchantId, keyId, reason }: UseForCallbacks,
): Promise<void> {
  let isUsedAlready = false
  const chosen = await parts.stores.merchants.chooseCallbackKey({ merchantId, keyId }, (keys) => {
    const key = keys.find((each) => each.keyId === keyId && each.revokedAtMs === undefined)
    if (key?.kind === 'rsa') throw sealsNothing(keyId)
    isUsedAlready = key !== undefined && callbackKey(keys) === key
    return isUsedAlready
      ? undefined
      : makeAuditEntry(parts, context, 'key.use-for-callbacks', keyId, { merchantId, reason })
  })
  if (!chosen && !isUsedAlready) throw noLiveKey(merchantId, keyId)
}

async function find({ stores: { merchants } }: Parts, merchantId: string): Promise<Merchant> {
  const found = await merchants.findMerchant(merchantId)
  return found?.merchant ?? noMerchant(merchantId)
}

async function change(
  { stores: { merchants } }: Parts,
  merchantId: string,
  changes: MerchantChanges,
  entryFor: (before: Merchant) => AuditEntry | undefined,
): Promise<Merchant> {
  return (await merchants.changeMerchant(merchantId, changes, entryFor)) ?? noMerchant(merchantId)
}

async function setStatus(
  parts: Parts,
  context: Context,
  merchantId: string,
  status: Merchant['status'],
  reason?: string,
): Promise<Merchant> {
  const name = status === 'active' ? 'merchant.resume' : 'merchant.suspend'
  return change(parts, merchantId, { status }, (before) =>
    makeAuditEntry(parts, context, name, merchantId, {
      merchantId,
      reason,
      ...(before.status === status && { effects: [] }),
    }),
  )
}

function checkCallbackUrl(parts: Parts, merchant: Merchant, before: Merchant): void {
  const { defaultCallbackUrl: url, callbackHosts } = merchant
  if (url === undefined) return
  const host = URL.canParse(url) ? hostOf(url) : ''
  const refusal =
    (url !== before.defaultCallbackUrl && parts.refusalOfCallbackUrl?.(url, merchant)) ||
    (callbackHosts?.includes(host) === false && `${host} is not on the list of callback hosts`)
  if (refusal)
    throw new Failure('url_not_allowed', {
      field: 'defaultCallbackUrl',
      message: `The callback address is not allowed: ${refusal}.`,
    })
}

/** Finds the key of an earlier request with the same id. Throws if the id is another merchant's. */
async function madeBefore(
  parts: Parts,
  merchantId: string,
  idempotencyKey: string | undefined,
): Promise<MadeMerchant> {
  const key = (await parts.stores.merchants.listKeys(merchantId)).find(
    ({ keyId }) => keyId === idempotencyKey,
  )
  if (key?.kind !== 'aes') throw merchantIdTaken(merchantId)
  checkShownOnce({ ...key, isOver: key.revokedAtMs !== undefined }, parts.clock.now())
  const aesKey = parts.vault.open(key.sealedKey, placeOf(key)).toString('base64')
  return { merchant: await find(parts, merchantId), aesKey }
}

function makeKey<K extends NewKey>(
  { clock, random, vault }: Parts,
  merchantId: string,
  key: K,
  idempotencyKey?: string,
): Made<K> {
  const nowMs = clock.now()
  const keyId = idempotencyKey ?? makeUuid(nowMs, random)
  const base = { merchantId, keyId, createdAtMs: nowMs, revokedAtMs: undefined }
  if (key.kind === 'rsa') {
    return { key: { ...base, kind: 'rsa', publicKey: toPem(key.publicKey) }, secret: undefined } as Made<K>
  }
  const secret = Buffer.from(random(aesKeyBytes))
  const sealedKey = vault.seal(secret, placeOf(base))
  // Safe, here and above: the kind was checked, which TypeScript does not apply to K.
  return { key: { ...base, kind: 'aes', sealedKey }, secret: secret.toString('base64') } as Made<K>
}

/** Deterministic, so that a repeated request generates the same merchantId. */
function bytesFrom(text: string): RandomBytes {
  let turn = 0
  return (count) => createHash('sha256').update(`${text} ${turn++}`).digest().subarray(0, count)
}

export function hashOfLogo(image: Buffer): string {
  return createHash('sha256').update(image).digest('hex').slice(0, 32)
}

export function checkSettings(settings: MerchantSettings): MerchantSettings {
  const { name, contactEmails, callbackHosts } = settings
  return {
    ...settings,
    ...(name !== undefined && { name: parseLine(name, 'name') }),
    ...(contactEmails && { contactEmails: contactEmails.map((each) => parseEmail(each, 'contactEmails')) }),
    ...(callbackHosts && { callbackHosts: checkHosts(callbackHosts) }),
  }
}

function named(key: MerchantKey): string {
  return key.kind === 'aes' ? `AES ${key.keyId}` : `RSA, SHA-256 ${fingerprintOf(key.publicKey)}`
}

interface Made<K extends NewKey> {
  readonly key: MerchantKey
  readonly secret: K['kind'] extends 'aes' ? string : undefined
}

export function toPem(publicKey: string): string {
  try {
    return parsePublicKey(publicKey).export({ type: 'spki', format: 'pem' }).toString()
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause
    throw new Failure('invalid_field', { field: 'publicKey', message: cause.message, cause })
  }
}

function tooManyKeys(merchantId: string, { kind }: NewKey): Failure {
  return new Failure('status_does_not_allow', {
    message: `Merchant ${merchantId} already has two active ${kind} keys. Revoke one of them first.`,
  })
}

function noLiveKey(merchantId: string, keyId: string): Failure {
  return new Failure('not_found', { message: `Merchant ${merchantId} has no active key ${keyId}.` })
}

function sealsNothing(keyId: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `Key ${keyId} is an RSA key, and callbacks are encrypted with an AES key. Choose an active AES key.`,
  })
}

function keyStillNeeded(key: UsedKey, breakage: readonly [Breakage, ...Breakage[]], nowMs: number): Failure {
  return new Failure('status_does_not_allow', {
    field: 'confirm',
    message: `Key ${key.keyId} was not revoked, because it is still needed. ${describeBreakage(key, breakage, nowMs)} To revoke it anyway, set confirm (--confirm on the command line).`,
  })
}

function merchantIdTaken(merchantId: string): Failure {
  return new Failure('number_already_used', {
    field: 'merchantId',
    message: `Merchant ${merchantId} already exists.`,
  })
}

function noMerchant(merchantId: string): never {
  throw new Failure('not_found', { message: `Merchant ${merchantId} does not exist.` })
}

export type ManageMerchants = ReturnType<typeof makeManageMerchants>
