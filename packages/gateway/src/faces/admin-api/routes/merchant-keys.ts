// The keys of merchants over the admin API: added beside the old ones, revoked, a secret told once.
import { Failure } from '@tillgate/protocol'
import type { MerchantKey } from '../../../merchants/rules/merchant.ts'
import { type ApiRoute, aesKey, merchantId, publicKey, reason, route, uuid } from '../api.ts'
import { list, longText, object, oneOf, optional, present, timeMs } from '../fields.ts'
import { outcomeFields, toOutcome } from './approvals.ts'

const key = object('Which merchant.', { merchantId })
export const keys = list(
  'All keys, also those that were revoked.',
  object('A key.', {
    keyId: uuid('The key’s number.'),
    kind: oneOf('What it is for: signatures or encryption.', ['rsa', 'aes']),
    publicKey: optional(longText('Of an RSA key, as PEM.', { max: 16_384 })),
    createdAtMs: timeMs('Since when.'),
    revokedAtMs: optional(timeMs('Since when it is refused.')),
  }),
)

export const merchantKeyRoutes: readonly ApiRoute[] = [
  route({
    method: 'POST',
    path: '/merchants/:merchantId/keys',
    id: 'addKey',
    scope: 'merchants:manage',
    summary:
      'A new key beside the old one: an AES key is made and told this once, an RSA public key is taken',
    params: key,
    body: object('Which kind.', {
      kind: oneOf('What it is for.', ['rsa', 'aes']),
      publicKey: optional(publicKey),
      reason,
    }),
    answer: object('The key is there, or waits for a second operator.', {
      ...outcomeFields,
      keyId: optional(uuid('The key’s number.')),
      aesKey: optional(aesKey),
    }),
    async act({ service, operator, actor, params, body }) {
      if (body.kind === 'rsa' && body.publicKey === undefined)
        throw new Failure('invalid_field', {
          field: 'publicKey',
          message: 'publicKey is missing: a key for signatures is the merchant’s own.',
        })
      const outcome = await service
        .merchantActs({ operator, actor })
        .addKey(
          params.merchantId,
          body.kind === 'rsa' ? { kind: 'rsa', publicKey: body.publicKey ?? '' } : { kind: 'aes' },
          body.reason,
        )
      if (outcome.kind === 'waiting') return toOutcome(outcome.request)
      const { keyId, secret } = outcome.result
      return { outcome: 'done' as const, ...present({ keyId, aesKey: secret }) }
    },
  }),
  route({
    method: 'POST',
    path: '/merchants/:merchantId/keys/:keyId/revoke',
    id: 'revokeKey',
    scope: 'merchants:manage',
    summary: 'Refuse a key, everywhere within 5 seconds',
    params: object('Which key.', { merchantId, keyId: uuid('The key’s number.') }),
    body: object('Why.', { reason }),
    answer: object('The key.', { keyId: uuid('The key’s number.') }),
    async act({ service, actor, params, body }) {
      await service.as(actor).merchants.revokeKey({ ...params, reason: body.reason })
      return { keyId: params.keyId }
    },
  }),
]

export function toKey(given: MerchantKey) {
  const { keyId, kind, createdAtMs, revokedAtMs } = given
  const shown = given.kind === 'rsa' ? given.publicKey : undefined
  return present({ keyId, kind, publicKey: shown, createdAtMs, revokedAtMs })
}
