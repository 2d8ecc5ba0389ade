// Which of a merchant's keys are in use, which AES key seals callbacks, and what revoking a key breaks. A new key is live
// before the merchant has it, so that the newest key says nothing: callbacks follow the key of the merchant's requests.
// All functions take the keys in the order of their creation.
import type { MerchantKey } from './merchant.ts'

/** What is recorded about the use of a key. */
export interface KeyUse {
  /** The last recorded request under the key: its first, and while two keys of a kind are live one a minute. */
  readonly usedAtMs: number | undefined
  /** Of the AES key that requests use: since when. Undefined for every other key. */
  readonly inUseSinceMs: number | undefined
  /** A person chose this AES key for callbacks, and requests have not changed their key since. */
  readonly isChosen: boolean
}

export type UsedKey = MerchantKey & KeyUse

type Kind = MerchantKey['kind']

const minuteMs = 60_000
/** While two keys of a kind are live, the use of each is recorded this often at most. */
export const recordedEveryMs = minuteMs
/**
 * Requests go back to an older key only if the newer one was not used for this long: while a merchant restarts its
 * servers one by one, requests under both keys arrive in turn. Longer than the time between two records.
 */
export const unusedAfterMs = 3 * minuteMs
/** A key whose last request is younger than this may still be in the settings of one of the merchant's servers. */
export const recentUseMs = 10 * minuteMs

export function liveKeys<Key extends UsedKey>(keys: readonly Key[], kind: Kind): readonly Key[] {
  return keys.filter((key) => key.kind === kind && key.revokedAtMs === undefined)
}

/** The key of the merchant's last requests; the oldest live key if none is recorded. */
export function keyInUse<Key extends UsedKey>(keys: readonly Key[], kind: Kind): Key | undefined {
  const live = liveKeys(keys, kind)
  if (kind === 'aes') return live.find(({ inUseSinceMs }) => inUseSinceMs !== undefined) ?? live[0]
  return live.toSorted((a, b) => (b.usedAtMs ?? 0) - (a.usedAtMs ?? 0))[0]
}

/** The AES key that seals callbacks. */
export function callbackKey<Key extends UsedKey>(keys: readonly Key[]): Key | undefined {
  return liveKeys(keys, 'aes').find(({ isChosen }) => isChosen) ?? keyInUse(keys, 'aes')
}

/** One live key of each kind, both used before: no request has anything to record. */
export function isUseSettled(keys: readonly UsedKey[]): boolean {
  return (['aes', 'rsa'] as const).every((kind) => {
    const [only, ...others] = liveKeys(keys, kind)
    if (!only || others.length > 0) return false
    return only.usedAtMs !== undefined && (kind === 'rsa' || only.inUseSinceMs !== undefined)
  })
}

export interface UseToRecord {
  /** Keys whose last use is recorded. */
  readonly used: readonly UsedKey[]
  /** The AES key that is in use from now on. */
  readonly inUse: { readonly key: UsedKey; readonly isChange: boolean } | undefined
}

/** What a request under these two keys adds to the record; undefined: nothing. */
export function useToRecord(
  keys: readonly UsedKey[],
  { aes, rsa }: { readonly aes: UsedKey; readonly rsa: UsedKey },
  nowMs: number,
): UseToRecord | undefined {
  const inUse = inUseAfter(keys, aes, nowMs)
  const used = [aes, rsa].filter((key) => key !== inUse?.key && isDue(keys, key, nowMs))
  return inUse || used.length > 0 ? { used, inUse } : undefined
}

/**
 * A newer key, and one that was never used before, is a change at once; an older one if the key in use went unused. The
 * first key that is recorded changes nothing if it was taken for the key in use before.
 */
function inUseAfter(keys: readonly UsedKey[], aes: UsedKey, nowMs: number): UseToRecord['inUse'] {
  const before = keyInUse(keys, 'aes')
  if (!before) return undefined
  if (before.keyId === aes.keyId)
    return before.inUseSinceMs === undefined ? { key: aes, isChange: false } : undefined
  const isNewer = aes.usedAtMs === undefined || keys.indexOf(aes) > keys.indexOf(before)
  return isNewer || !isUsedWithin(unusedAfterMs, before, nowMs) ? { key: aes, isChange: true } : undefined
}

function isDue(keys: readonly UsedKey[], key: UsedKey, nowMs: number): boolean {
  if (key.usedAtMs === undefined) return true
  return liveKeys(keys, key.kind).length > 1 && !isUsedWithin(recordedEveryMs, key, nowMs)
}

/** Clocks of several machines differ, and may be set back. */
function isUsedWithin(spanMs: number, { usedAtMs }: UsedKey, nowMs: number): boolean {
  return usedAtMs !== undefined && Math.abs(nowMs - usedAtMs) < spanMs
}

/** What stops working if a key is revoked now. */
export type Breakage =
  /** It is the only live key of its kind: every request is rejected, and without an AES key callbacks wait. */
  | { readonly kind: 'only_key' }
  /** It seals callbacks; `next`, which would seal them then, is not known to be installed. */
  | { readonly kind: 'callbacks'; readonly next: UsedKey }
  /** Requests still arrive under it. */
  | { readonly kind: 'requests'; readonly lastUsedAtMs: number }

/** Empty: nothing breaks. */
export function breakageOf(
  keys: readonly UsedKey[],
  revoked: UsedKey,
  nowMs: number,
): readonly [] | readonly [Breakage, ...Breakage[]] {
  const other = liveKeys(keys, revoked.kind).find(({ keyId }) => keyId !== revoked.keyId)
  if (!other) return [{ kind: 'only_key' }]
  const callbacks =
    callbackKey(keys)?.keyId === revoked.keyId ? [{ kind: 'callbacks', next: other } as const] : []
  const { usedAtMs } = revoked
  const requests =
    usedAtMs !== undefined && isStillUsed(keys, revoked, nowMs)
      ? [{ kind: 'requests', lastUsedAtMs: usedAtMs } as const]
      : []
  // Safe: a list is empty or has a first item.
  return [...callbacks, ...requests] as [] | [Breakage, ...Breakage[]]
}

/** It is the key in use; or another one is, and one of the merchant's servers went on with this one. */
function isStillUsed(keys: readonly UsedKey[], key: UsedKey, nowMs: number): boolean {
  const inUse = keyInUse(keys, key.kind)
  if (inUse?.keyId === key.keyId) return true
  const { usedAtMs = 0 } = key
  const changedAtMs = inUse?.inUseSinceMs ?? usedAtMs
  return usedAtMs - changedAtMs > recordedEveryMs && isUsedWithin(recentUseMs, key, nowMs)
}

/** Where the replacement of a key stands. */
export interface Rotation {
  readonly oldKey: UsedKey
  readonly newKey: UsedKey
  /**
   * install: the merchant's requests do not use the new key yet. wait: they do, and some still use the old key.
   * revoke: the old key can be revoked.
   */
  readonly step: 'install' | 'wait' | 'revoke'
}

/** Undefined: no two keys of this kind are live. */
export function rotationOf(keys: readonly UsedKey[], kind: Kind, nowMs: number): Rotation | undefined {
  const [oldKey, newKey] = liveKeys(keys, kind)
  if (!oldKey || !newKey) return undefined
  const isInstalled =
    keyInUse(keys, kind)?.keyId === newKey.keyId &&
    newKey.usedAtMs !== undefined &&
    (kind === 'rsa' || callbackKey(keys)?.keyId === newKey.keyId)
  const step = !isInstalled ? 'install' : breakageOf(keys, oldKey, nowMs).length > 0 ? 'wait' : 'revoke'
  return { oldKey, newKey, step }
}
