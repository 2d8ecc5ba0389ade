// Reseals every secret under the current master key in batches, while gateways that know both keys keep running. An
// interrupted run can be repeated.

import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { masterKeyIdOf, type Vault } from '../../platform/runtime/secrets/vault.ts'
import { makeAuditEntry } from '../audit/audit-entries.ts'
import type { AnyContext } from '../authority/context.ts'
import {
  type SealedSecretStore,
  type SecretKey,
  type SecretsUnder,
  secretKinds,
} from './store/sealed-secrets.ts'

/** A sealed value can be opened only for its place. */
export type PlaceOfSecret = (secret: SecretKey) => string

export interface RotateMasterKeyParts extends ClockAndRandom {
  readonly placeOf: PlaceOfSecret
  readonly secrets: SealedSecretStore
  readonly vault: Vault
  readonly batchSize?: number
}

export interface MasterKeyStatus extends SecretsUnder {
  readonly role: 'seals' | 'opens' | 'unknown'
}

export interface Rotated {
  readonly resealed: number
  /** Sealed under an unknown key; left unchanged. */
  readonly unknown: number
}

const usualBatchSize = 200

export function makeRotateMasterKey(parts: RotateMasterKeyParts) {
  const { secrets, vault, placeOf, batchSize = usualBatchSize } = parts
  const { masterKeyId } = vault
  const isKnown = (id: Buffer) => vault.masterKeyIds.some((known) => known.equals(id))

  return {
    async status(_context: AnyContext): Promise<MasterKeyStatus[]> {
      const counted = await secrets.countByMasterKey()
      const unused = vault.masterKeyIds
        .filter((id) => !counted.some((each) => each.masterKeyId.equals(id)))
        .map((id) => ({ masterKeyId: id, live: 0, ended: 0 }))
      return [...counted, ...unused].map((each) => ({
        ...each,
        role: each.masterKeyId.equals(masterKeyId)
          ? 'seals'
          : isKnown(each.masterKeyId)
            ? 'opens'
            : 'unknown',
      }))
    },

    async rotate(
      context: AnyContext,
      {
        reason,
        onBatch = () => {},
      }: {
        reason: string
        onBatch?: (resealed: number) => void | Promise<void>
      },
    ): Promise<Rotated> {
      let resealed = 0
      let unknown = 0
      const entry = makeAuditEntry(parts, context, 'master-key.rotate', masterKeyId.toString('hex'), {
        reason,
      })
      for (const kind of secretKinds) {
        for (let after: SecretKey | undefined, more = true; more; ) {
          const batch = await secrets.listNotUnder({ kind, masterKeyId, after, limit: batchSize })
          const known = batch.filter(({ sealed }) => isKnown(masterKeyIdOf(sealed)))
          unknown += batch.length - known.length
          resealed += await secrets.reseal(
            known.map((secret) => {
              const place = placeOf(secret)
              return {
                ...secret,
                before: secret.sealed,
                sealed: vault.seal(vault.open(secret.sealed, place), place),
              }
            }),
            // Written with the first batch, so that an interrupted run is recorded too.
            resealed === 0 ? entry : undefined,
          )
          after = batch.at(-1)
          more = batch.length === batchSize
          await onBatch(resealed)
        }
      }
      return { resealed, unknown }
    },
  }
}
