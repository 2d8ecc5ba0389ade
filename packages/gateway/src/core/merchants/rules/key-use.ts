// Determines a merchant's keys in use, the AES key for callbacks, and what a revocation breaks. A new key is live
// before the merchant has it, so callbacks follow the requests' key. Keys are passed in order of creation.
import type { MerchantKey } from './merchant.ts'

export interface KeyUse {
  /** The last recorded request: the key's first one, and one a minute while two keys of a kind are live. */
  readonly usedAtMs: number | undefined
  /** For the AES key that requests use; undefined for all other keys. */
  readonly inUseSinceMs: number | undefined
  /** A person chose this AES key for callbacks, and requests have not changed keys since. */
  readonly isChosen: boolean
}

export type UsedKey = MerchantKey & KeyUse

type Kind = MerchantKey['kind']

const minuteMs = 60_000
/** While two keys of a kind are live, each use is recorded at most this often. */
export const recordedEveryMs = minuteMs
/**
 * Requests return to an older key only after the newer one was unused for this long, because servers that restart one
 * by one use both keys. Longer than the recording interval.
 */
export const unusedAfterMs = 3 * minuteMs
/** A key used more recently may still be configured on one of the merchant's servers. */
export const recentUseMs = 10 * minuteMs

export function liveKeys<Key extends UsedKey>(keys: readonly Key[], kind: Kind): readonly Key[] {
  return keys.filter((key) => key.kind === kind && key.revokedAtMs === undefined)
}

/** The key of the latest requests; the oldest live key if none is recorded. */
export function keyInUse<Key extends UsedKey>(keys: readonly Key[], kind: Kind): Key | undefined {
  const live = liveKeys(keys, kind)
  if (kind === 'aes') return live.find(({ inUseSinceMs }) => inUseSinceMs !== undefined) ?? live[0]
  return live.toSorted((a, b) => (b.usedAtMs ?? 0) - (a.usedAtMs ?? 0))[0]
}

export function callbackKey<Key extends UsedKey>(keys: readonly Key[]): Key | undefined {
  return liveKeys(keys, 'aes').find(({ isChosen }) => isChosen) ?? keyInUse(keys, 'aes')
}

/** One used live key of each kind: requests have nothing to record. */
export function isUseSettled(keys: readonly UsedKey[]): boolean {
  return (['aes', 'rsa'] as const).every((kind) => {
    const [only, ...others] = liveKeys(keys, kind)
    if (!only || others.length > 0) return false
    return only.usedAtMs !== undefined && (kind === 'rsa' || only.inUseSinceMs !== undefined)
  })
}

export interface UseToRecord {
  readonly used: readonly UsedKey[]
  readonly inUse: { readonly key: UsedKey; readonly isChange: boolean } | undefined
}

/** Returns undefined if there is nothing to record. */
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
 * A newer or a never used key counts at once; an older one only if the key in use was unused for a while. The first
 * recorded key is no change if it was already assumed to be in use.
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

/** Clocks differ between machines and may be set back. */
function isUsedWithin(spanMs: number, { usedAtMs }: UsedKey, nowMs: number): boolean {
  return usedAtMs !== undefined && Math.abs(nowMs - usedAtMs) < spanMs
}

export type Breakage =
  /** The only live key of its kind: every request would be rejected, and without an AES key callbacks would wait. */
  | { readonly kind: 'only_key' }
  /** The key seals callbacks, and `next` is not known to be installed. */
  | { readonly kind: 'callbacks'; readonly next: UsedKey }
  | { readonly kind: 'requests'; readonly lastUsedAtMs: number }

/** Empty if nothing breaks. */
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

/** Either this key is in use, or one of the merchant's servers still uses it beside the new one. */
function isStillUsed(keys: readonly UsedKey[], key: UsedKey, nowMs: number): boolean {
  const inUse = keyInUse(keys, key.kind)
  if (inUse?.keyId === key.keyId) return true
  const { usedAtMs = 0 } = key
  const changedAtMs = inUse?.inUseSinceMs ?? usedAtMs
  return usedAtMs - changedAtMs > recordedEveryMs && isUsedWithin(recentUseMs, key, nowMs)
}

export interface Rotation {
  readonly oldKey: UsedKey
  readonly newKey: UsedKey
  /**
   * install: requests do not use the new key yet. wait: some requests still use the old key. revoke: the old key can
   * be revoked.
   */
  readonly step: 'install' | 'wait' | 'revoke'
}

/** Undefined unless two keys of this kind are live. */
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
