// Operators' actions on the gateway's own keys: a new key is published before it signs, and the old one is retired
// afterwards.

import { Failure } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import { type AnyContext, reading } from '../authority/context.ts'
import { makePlatformKey, signingOf } from './platform-keys.ts'
import type { PlatformKeyStore } from './store/platform-keys.ts'

export interface ManagePlatformKeysParts extends ClockAndRandom {
  readonly keys: PlatformKeyStore
  readonly vault: Vault
}

export interface PlatformKey {
  readonly keyId: string
  readonly publicKey: string
  readonly state: 'signs' | 'will sign' | 'published' | 'retired'
  readonly createdAtMs: number
  readonly signsFromMs: number
  readonly retiredAtMs: number | undefined
}

/** Every gateway reloads keys within 30 seconds, and caches may keep the published list for a minute. */
export const leastOverlapMs = 5 * 60_000

export function makeManagePlatformKeys(parts: ManagePlatformKeysParts) {
  const { keys, vault, clock, random } = parts

  const list = async (): Promise<PlatformKey[]> => {
    const nowMs = clock.now()
    const all = await keys.listAllKeys()
    const signs = signingOf(
      all.filter(({ retiredAtMs }) => retiredAtMs === undefined),
      nowMs,
    )
    return all.map(({ sealedKey: _secret, ...key }) => ({
      ...key,
      state:
        key.retiredAtMs !== undefined
          ? 'retired'
          : key.keyId === signs?.keyId
            ? 'signs'
            : key.signsFromMs > nowMs
              ? 'will sign'
              : 'published',
    }))
  }

  return {
    list: reading(list),

    /** An overlap of 0 is for a stolen key: callbacks fail to verify until merchants have the new key. */
    async rotate(
      context: AnyContext,
      { overlapMs, reason }: { overlapMs: number; reason: string },
    ): Promise<PlatformKey> {
      if (overlapMs !== 0 && overlapMs < leastOverlapMs) {
        throw new Failure('invalid_field', {
          message: 'The overlap must be at least 5 minutes, so that every gateway can publish the key.',
        })
      }
      const nowMs = clock.now()
      const key = await makePlatformKey({ vault, random, nowMs, signsFromMs: nowMs + overlapMs })
      if (
        !(await keys.insertKey(
          key,
          makeAuditEntry(parts, context, 'platform-key.rotate', key.keyId, { reason }),
        ))
      ) {
        throw new Failure('status_does_not_allow', {
          message: 'Two keys are not retired. Retire the older one first.',
        })
      }
      const { sealedKey: _secret, ...made } = key
      return { ...made, retiredAtMs: undefined, state: overlapMs === 0 ? 'signs' : 'will sign' }
    },

    async retire(context: AnyContext, { keyId, reason }: { keyId: string; reason: string }): Promise<void> {
      const key = (await list()).find((each) => each.keyId === keyId)
      if (!key || key.state === 'retired')
        throw new Failure('invalid_field', {
          message: `Key ${keyId} does not exist or is already retired.`,
        })
      if (
        !(await keys.retireKey(
          { keyId, nowMs: clock.now() },
          makeAuditEntry(parts, context, 'platform-key.retire', keyId, { reason }),
        ))
      ) {
        throw new Failure('status_does_not_allow', {
          message:
            'No other key signs yet. Without one, callbacks cannot be sent. Rotate the key and wait until the new one signs.',
        })
      }
    },
  }
}

export type ManagePlatformKeys = ReturnType<typeof makeManagePlatformKeys>
