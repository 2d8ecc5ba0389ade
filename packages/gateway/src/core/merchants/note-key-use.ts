// Records which keys a merchant's requests use, outside the request. Nothing is written for merchants with one used
// key of each kind. After a crash, the next request writes it.

import type { KeyObject } from 'node:crypto'
import type { OpenedEnvelope } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import type { Publish } from '../changes/rules/change.ts'
import type { KnownMerchant, MerchantDirectory } from './merchant-directory.ts'
import { type UsedKey, type UseToRecord, useToRecord } from './rules/key-use.ts'
import type { MerchantStore } from './store/merchants.ts'

export type NoteKeyUse = (
  known: Pick<KnownMerchant, 'merchant' | 'useOfKeys' | 'aesKeyInUse'>,
  opened: Pick<OpenedEnvelope, 'aesKey' | 'publicKey'>,
  nowMs: number,
) => void

export interface KeyUseParts extends ClockAndRandom {
  readonly merchants: Pick<MerchantStore, 'recordKeyUse' | 'setKeyInUse'>
  readonly directory: Pick<MerchantDirectory, 'forget'>
  readonly publish: Publish
  readonly log: Log
}

export interface RecordKeyUse {
  readonly note: NoteKeyUse
  idle(): Promise<void>
}

interface Noted extends UseToRecord {
  readonly merchantId: string
  readonly aesKeyInUse: string | undefined
  readonly nowMs: number
}

/** The pause after a failed statement. The next request records the same. */
const restAfterTroubleMs = 5_000

export function makeRecordKeyUse(parts: KeyUseParts): RecordKeyUse {
  const { merchants, directory } = parts
  /** One record per merchant, written one after the other, so that many merchants use one connection. */
  const waiting = new Map<string, Noted>()
  let writing: Promise<void> | undefined
  let failedAtMs: number | undefined

  const write = async (noted: Noted): Promise<void> => {
    const { merchantId, used, inUse, aesKeyInUse, nowMs } = noted
    for (const { keyId } of used) await merchants.recordKeyUse({ merchantId, keyId, nowMs })
    if (!inUse) return
    const { keyId } = inUse.key
    const reason = 'requests use this key, so callbacks are encrypted with it'
    const isRecorded = await merchants.setKeyInUse(
      { merchantId, keyId, fromKeyId: aesKeyInUse, nowMs },
      inUse.isChange
        ? makeAuditEntry(parts, { actor: 'merchant-api' }, 'key.in-use', keyId, { merchantId, reason })
        : undefined,
    )
    if (isRecorded && inUse.isChange) parts.publish([{ kind: 'key in use', merchantId }])
  }

  const writeAll = async (): Promise<void> => {
    for (const [merchantId, noted] of waiting) {
      try {
        await write(noted)
      } catch (err) {
        failedAtMs = parts.clock.now()
        parts.log.warn(
          { merchantId, err },
          'the key of a request was not recorded; the next request tries again',
        )
      }
      directory.forget(merchantId)
      waiting.delete(merchantId)
    }
    writing = undefined
  }

  return {
    note({ merchant: { merchantId }, useOfKeys, aesKeyInUse }, opened, nowMs) {
      if (waiting.has(merchantId)) return
      if (failedAtMs !== undefined && Math.abs(nowMs - failedAtMs) < restAfterTroubleMs) return
      const toRecord = useToRecord([...useOfKeys.values()], keysOf(useOfKeys, opened), nowMs)
      if (!toRecord) return
      waiting.set(merchantId, { ...toRecord, merchantId, aesKeyInUse, nowMs })
      writing ??= writeAll()
    },
    idle: async () => writing,
  }
}

function keysOf(
  useOfKeys: ReadonlyMap<KeyObject, UsedKey>,
  { aesKey, publicKey }: Pick<OpenedEnvelope, 'aesKey' | 'publicKey'>,
): { aes: UsedKey; rsa: UsedKey } {
  const [aes, rsa] = [useOfKeys.get(aesKey), useOfKeys.get(publicKey)]
  if (!aes || !rsa) throw new Error('a request was opened with a key that is not the merchant’s')
  return { aes, rsa }
}
