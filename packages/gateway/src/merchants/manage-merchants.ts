// What an operator does with merchants and their keys. Each act is recorded with who did it and why; a secret is
// given out once, when it is made, and never again.
import { createHash } from 'node:crypto'
import { Failure, KeyError, makeUuid, parsePublicKey, type RandomBytes } from '@tillgate/protocol'
import type { MakeNotices } from '../notices/make-notices.ts'
import { parseEmail, writtenTime } from '../notices/rules/notice.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import type { Approval } from '../operators/rules/approval.ts'
import type { Act } from '../operators/rules/audit.ts'
import { checkToldAgain } from '../operators/rules/tell-again.ts'
import { hostOf } from '../platform/ssrf-guard.ts'
import type { Vault } from '../platform/vault.ts'
import { parseLine } from '../platform/visible-text.ts'
import { fingerprintOf } from './key-fingerprint.ts'
import { placeOf } from './merchant-directory.ts'
import { readLogo } from './rules/logo.ts'
import {
  type CheckedKey,
  checkHosts,
  describeChanges,
  type Merchant,
  type MerchantKey,
  type MerchantSettings,
  makeMerchantId,
  type NewKey,
} from './rules/merchant.ts'
import type { MerchantChanges, MerchantStore } from './store/merchants.ts'

export interface ManageMerchantsParts extends ActParts {
  readonly makeNotices: MakeNotices
  readonly merchants: MerchantStore
  readonly vault: Vault
  /** Why callbacks of this merchant may not go to this address; undefined when they may. Left out, any may. */
  readonly refusalOfCallbackUrl?: (url: string, merchant: Merchant) => string | undefined
}

export interface MadeKey {
  readonly keyId: string
  /** An AES key in base64, to be shown this once; undefined for a public key, which is no secret. */
  readonly secret: string | undefined
}

/** Why, and where a second operator had to allow it, by which request. */
export interface Grounds {
  readonly reason?: string | undefined
  readonly approval?: Approval | undefined
}

export interface NewMerchant extends Omit<MerchantSettings, 'name'> {
  /** Which a merchant brings from another implementation of the interface; left out, a new one. */
  readonly merchantId?: string
  readonly name: string
  readonly publicKey?: string
  readonly isSelfRegistered?: boolean
  /** Sent again with the same one, it makes one merchant. */
  readonly actId?: string | undefined
}

export interface MadeMerchant {
  readonly merchant: Merchant
  /** In base64, to be shown this once. */
  readonly aesKey: string
}

const aesKeyBytes = 32

export function makeManageMerchants(parts: ManageMerchantsParts) {
  const { merchants, vault, clock, random } = parts
  const act = makeActs(parts)

  const find = async (merchantId: string): Promise<Merchant> => {
    const found = await merchants.findMerchant(merchantId)
    return found?.merchant ?? noMerchant(merchantId)
  }

  const change = async (
    merchantId: string,
    changes: MerchantChanges,
    actFor: (before: Merchant) => Act | undefined,
  ): Promise<Merchant> =>
    (await merchants.changeMerchant(merchantId, changes, actFor)) ?? noMerchant(merchantId)

  const setStatus = async (
    merchantId: string,
    status: Merchant['status'],
    reason?: string,
  ): Promise<Merchant> => {
    const name = status === 'active' ? 'merchant.resume' : 'merchant.suspend'
    return change(merchantId, { status }, () => act(name, merchantId, { merchantId, reason }))
  }

  return {
    /** With an AES key, and with the merchant's RSA public key where it is at hand. */
    async addMerchant({ publicKey, actId, ...given }: NewMerchant): Promise<MadeMerchant> {
      const settings = { ...given, ...checkSettings(given) }
      const merchant: Merchant = {
        merchantId: settings.merchantId ?? makeMerchantId(actId === undefined ? random : bytesFrom(actId)),
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
        createdAtMs: clock.now(),
      }
      checkCallbackUrl(merchant, { ...merchant, defaultCallbackUrl: undefined })
      const { merchantId } = merchant
      const aes = make(merchantId, { kind: 'aes' }, actId)
      const keys = publicKey === undefined ? [aes] : [aes, make(merchantId, { kind: 'rsa', publicKey })]
      const isNew = await merchants.insertMerchant(
        merchant,
        keys.map(({ key }) => key),
        act('merchant.add', merchantId, { merchantId }),
      )
      return isNew ? { merchant, aesKey: aes.secret } : madeBefore(merchantId, actId)
    },

    /** The audit says what changed from what to what; where nothing does, nothing is recorded. */
    async changeMerchant(
      merchantId: string,
      given: MerchantSettings,
      { reason, approval }: Grounds & { readonly reason: string },
    ): Promise<Merchant> {
      const settings = checkSettings(given)
      return change(merchantId, settings, (before) => {
        checkCallbackUrl({ ...before, ...settings }, before)
        const changes = describeChanges(before, settings)
        if (changes === '' && !approval) return undefined
        const recorded = `${changes || 'no change'}: ${reason}`
        return act('merchant.change', merchantId, { merchantId, reason: recorded, approval })
      })
    },

    /** PNG, JPEG or WebP, in base64; undefined takes it away. */
    async setLogo(merchantId: string, image: string | undefined): Promise<void> {
      const logo = image === undefined ? undefined : readLogo(Buffer.from(image, 'base64'), hashOfLogo)
      const recorded = act('merchant.logo', merchantId, { merchantId, reason: logo?.hash ?? 'removed' })
      if (!(await merchants.setLogo(merchantId, logo, recorded))) noMerchant(merchantId)
    },

    suspendMerchant: (merchantId: string, reason: string) => setStatus(merchantId, 'suspended', reason),
    resumeMerchant: (merchantId: string, reason: string) => setStatus(merchantId, 'active', reason),
    listMerchants: () => merchants.listMerchants(),
    searchMerchants: (sought: string, limit: number) => merchants.searchMerchants(sought, limit),

    async showMerchant(merchantId: string): Promise<{ merchant: Merchant; keys: readonly MerchantKey[] }> {
      return { merchant: await find(merchantId), keys: await merchants.listKeys(merchantId) }
    },

    async addKey(merchantId: string, key: NewKey, { reason, approval }: Grounds = {}): Promise<MadeKey> {
      await find(merchantId)
      const made = make(merchantId, key)
      const recorded = act('key.add', made.key.keyId, {
        merchantId,
        reason,
        approval,
        notices: parts.makeNotices('key-added', {
          merchantId,
          parameters: { key: named(made.key), time: writtenTime(clock.now()) },
        }),
      })
      if (!(await merchants.insertKey(made.key, recorded))) throw tooManyKeys(merchantId, key)
      return { keyId: made.key.keyId, secret: made.secret }
    },

    /** Throws where the key could not be added now. */
    async checkKey(merchantId: string, key: NewKey): Promise<CheckedKey> {
      await find(merchantId)
      const live = (await merchants.listKeys(merchantId)).filter(
        ({ kind, revokedAtMs }) => kind === key.kind && revokedAtMs === undefined,
      )
      if (live.length >= 2) throw tooManyKeys(merchantId, key)
      if (key.kind === 'aes') return key
      const publicKey = toPem(key.publicKey)
      return { kind: 'rsa', publicKey, fingerprint: fingerprintOf(publicKey) }
    },

    async revokeKey({
      merchantId,
      keyId,
      reason,
    }: {
      merchantId: string
      keyId: string
      reason: string
    }): Promise<void> {
      const revoked = await merchants.revokeKey(
        { merchantId, keyId, nowMs: clock.now() },
        act('key.revoke', keyId, { merchantId, reason }),
      )
      if (!revoked) {
        throw new Failure('not_found', { message: `Merchant ${merchantId} has no live key ${keyId}.` })
      }
    },
  }

  function checkCallbackUrl(merchant: Merchant, before: Merchant): void {
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

  /** By the same act, of which the key bears the id. Throws where the number is another merchant's. */
  async function madeBefore(merchantId: string, actId: string | undefined): Promise<MadeMerchant> {
    const key = (await merchants.listKeys(merchantId)).find(({ keyId }) => keyId === actId)
    if (key?.kind !== 'aes') throw merchantIdTaken(merchantId)
    checkToldAgain({ ...key, isOver: key.revokedAtMs !== undefined }, clock.now())
    const aesKey = vault.open(key.sealedKey, placeOf(key)).toString('base64')
    return { merchant: await find(merchantId), aesKey }
  }

  function make<K extends NewKey>(merchantId: string, key: K, actId?: string): Made<K> {
    const nowMs = clock.now()
    const keyId = actId ?? makeUuid(nowMs, random)
    const base = { merchantId, keyId, createdAtMs: nowMs, revokedAtMs: undefined }
    if (key.kind === 'rsa') {
      return { key: { ...base, kind: 'rsa', publicKey: toPem(key.publicKey) }, secret: undefined } as Made<K>
    }
    const secret = Buffer.from(random(aesKeyBytes))
    const sealedKey = vault.seal(secret, placeOf(base))
    // Safe, here and above: the kind was looked at, which TypeScript does not carry over to K.
    return { key: { ...base, kind: 'aes', sealedKey }, secret: secret.toString('base64') } as Made<K>
  }
}

/** The same bytes for the same text, so that an act that is sent again makes the same number. */
function bytesFrom(text: string): RandomBytes {
  let turn = 0
  return (count) => createHash('sha256').update(`${text} ${turn++}`).digest().subarray(0, count)
}

function hashOfLogo(image: Buffer): string {
  return createHash('sha256').update(image).digest('hex').slice(0, 32)
}

/** Throws where they cannot be stored. */
export function checkSettings(settings: MerchantSettings): MerchantSettings {
  const { name, contactEmails, callbackHosts } = settings
  return {
    ...settings,
    ...(name !== undefined && { name: parseLine(name, 'name') }),
    ...(contactEmails && { contactEmails: contactEmails.map((each) => parseEmail(each, 'contactEmails')) }),
    ...(callbackHosts && { callbackHosts: checkHosts(callbackHosts) }),
  }
}

/** As its owner can compare it. */
function named(key: MerchantKey): string {
  return key.kind === 'aes' ? `AES ${key.keyId}` : `RSA, SHA-256 ${fingerprintOf(key.publicKey)}`
}

interface Made<K extends NewKey> {
  readonly key: MerchantKey
  readonly secret: K['kind'] extends 'aes' ? string : undefined
}

/** Throws at the field. */
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
    message: `Merchant ${merchantId} has two live ${kind} keys already. Revoke one of them first.`,
  })
}

function merchantIdTaken(merchantId: string): Failure {
  return new Failure('number_already_used', {
    field: 'merchantId',
    message: `There is a merchant ${merchantId} already.`,
  })
}

function noMerchant(merchantId: string): never {
  throw new Failure('not_found', { message: `There is no merchant ${merchantId}.` })
}

export type ManageMerchants = ReturnType<typeof makeManageMerchants>
