// The keys of merchants. Up to two of a kind are live, so that one can be replaced without a pause: add, wait until the
// merchant uses the new one, revoke the old one. A secret is told once.
import { Failure } from '@tillgate/protocol'
import { fingerprintOf } from '../merchants/key-fingerprint.ts'
import type { MerchantKey } from '../merchants/rules/merchant.ts'
import {
  type Act,
  type ActCall,
  type CommandFace,
  defineAct,
  type FormFace,
  type PortalFace,
  type Told,
} from './act.ts'
import { outcomeFields, tellWaiting, toOutcome } from './approval-acts.ts'
import { list, longText, object, oneOf, optional, text, timeMs } from './fields.ts'
import { aesKey, byMerchant, merchantId, publicKey, publicKeyCheck, reason, uuid } from './shared-fields.ts'

const key = object('Which merchant.', { merchantId })
const page = '/merchants/:merchantId'
export const keys = list(
  'All keys, also those that were revoked.',
  object('A key.', {
    keyId: uuid('The key’s number.'),
    kind: oneOf('What it is for: signatures or encryption.', ['rsa', 'aes']),
    publicKey: optional(longText('Of an RSA key, as PEM.', { max: 16_384 })),
    fingerprint: optional(text('Of an RSA key: SHA-256 of its DER form, in hexadecimal.', { max: 64 })),
    createdAtMs: timeMs('Since when.'),
    revokedAtMs: optional(timeMs('Since when it is refused.')),
  }),
)
const columns = ['keyId', 'kind', 'createdAtMs', 'revokedAtMs']
const newKey = object('Which kind.', {
  kind: oneOf('What it is for.', ['rsa', 'aes']),
  publicKey: optional(publicKey),
  reason,
})
const added = {
  ...outcomeFields,
  keyId: optional(uuid('The key’s number.')),
  aesKey: optional(aesKey),
}
/** The command says the kind by what it is given. */
const ofKind = (words: string): CommandFace => ({
  words,
  flags: { aes: 'Make a new AES key.' },
  omits: ['kind'],
  read({ aes, ...raw }) {
    if ((aes === undefined) === (raw['publicKey'] === undefined))
      throw new Failure('invalid_field', { message: 'Say which key: --aes, or --public-key FILE.' })
    return { ...raw, kind: aes ? 'aes' : 'rsa' }
  },
})
const keyForm = {
  place: 'merchant.keys',
  page,
  wantsProof: true,
} as const satisfies Partial<FormFace>

const keyScreen = {
  roles: ['owner', 'developer'],
  page: '/keys',
} as const satisfies Partial<PortalFace>

export const keyActs: readonly Act[] = [
  defineAct({
    name: 'key.list',
    summary: 'A merchant’s keys, live and revoked',
    params: key,
    answer: object('The keys.', { keys }),
    command: { words: 'key list', columns },
    async run({ service, actor, params }) {
      const { keys: all } = await service.as(actor).merchants.showMerchant(params.merchantId)
      return { keys: all.map(withFingerprint) }
    },
  }),
  defineAct({
    name: 'key.add',
    api: { method: 'POST', path: '/merchants/:merchantId/keys', id: 'addKey' },
    scope: 'merchants:manage',
    summary:
      'A new key beside the old one: an AES key is made and told this once, an RSA public key is taken',
    params: key,
    input: newKey,
    checks: publicKeyCheck,
    answer: object('The key is there, or waits for a second operator.', added),
    command: ofKind('key add'),
    forms: [
      {
        ...keyForm,
        path: `${page}/keys/aes`,
        label: 'New AES key…',
        explains:
          'A key is made and shown once. The old one stays live beside it until you revoke it, so that nothing pauses.',
        button: 'Make the key',
        fields: ['reason'],
        fixed: { kind: 'aes' },
      },
      {
        ...keyForm,
        path: `${page}/keys/rsa`,
        label: 'New RSA public key…',
        explains:
          'The merchant keeps the private half. The old key stays live beside it until you revoke it.',
        button: 'Add the key',
        fields: ['publicKey', 'reason'],
        fixed: { kind: 'rsa' },
        required: ['publicKey'],
      },
    ],
    portal: [
      {
        ...keyScreen,
        name: 'newAesKey',
        path: '/keys/aes',
        fields: [],
        fixed: { kind: 'aes', reason: byMerchant },
        wantsProof: true,
      },
      {
        ...keyScreen,
        name: 'newRsaKey',
        path: '/keys/rsa',
        fields: ['publicKey'],
        fixed: { kind: 'rsa', reason: byMerchant },
        required: ['publicKey'],
        wantsProof: true,
      },
    ],
    run: addKey,
    tell: tellKey,
  }),
  defineAct({
    name: 'key.rotate',
    needs: 'admin',
    summary: 'A new key beside the live one of its kind, and how to revoke the old one',
    params: key,
    input: newKey,
    checks: publicKeyCheck,
    answer: object('The new key, and the old one.', { ...added, oldKeyId: uuid('The old key’s number.') }),
    command: ofKind('key rotate'),
    async run(call) {
      const { service, actor, params, input } = call
      const { keys: all } = await service.as(actor).merchants.showMerchant(params.merchantId)
      const old = all.find(({ kind, revokedAtMs }) => kind === input.kind && revokedAtMs === undefined)
      if (!old)
        throw new Failure('status_does_not_allow', {
          message: `Merchant ${params.merchantId} has no live ${input.kind} key to rotate. Add one instead.`,
        })
      return { ...(await addKey(call)), oldKeyId: old.keyId }
    },
    tell: (answer, { params }) => ({
      ...tellKey(answer, { params }),
      next: `key revoke ${params.merchantId} ${answer.oldKeyId} --reason rotated`,
    }),
  }),
  defineAct({
    name: 'key.revoke',
    api: { method: 'POST', path: '/merchants/:merchantId/keys/:keyId/revoke', id: 'revokeKey' },
    scope: 'merchants:manage',
    summary: 'Refuse a key, everywhere within 5 seconds',
    params: object('Which key.', { merchantId, keyId: uuid('The key’s number.') }),
    input: object('Why.', { reason }),
    answer: object('The key.', { keyId: uuid('The key’s number.') }),
    command: { words: 'key revoke' },
    form: {
      place: 'key',
      path: `${page}/keys/:keyId/revoke`,
      page,
      label: 'Revoke…',
      explains:
        'Every gateway refuses this key within 5 seconds. If it is the only one of its kind, the merchant can send nothing.',
      button: 'Revoke the key',
      isDangerous: true,
    },
    portal: [
      {
        ...keyScreen,
        name: 'revokeKey',
        path: '/keys/:keyId/revoke',
        fields: [],
        fixed: { reason: byMerchant },
        isDangerous: true,
      },
    ],
    async run({ service, actor, params, input }) {
      await service.as(actor).merchants.revokeKey({ ...params, reason: input.reason })
      return { keyId: params.keyId }
    },
    tell: ({ keyId }) => ({
      text: `Key ${keyId} is revoked: every gateway refuses it within 5 seconds.`,
    }),
  }),
]

export function withFingerprint(each: MerchantKey) {
  return each.kind === 'rsa' ? { ...each, fingerprint: fingerprintOf(each.publicKey) } : each
}

interface NewKeyInput {
  readonly kind: 'rsa' | 'aes'
  readonly publicKey?: string
  readonly reason: string
}

async function addKey({
  service,
  operator,
  actor,
  params,
  input,
  prove,
}: ActCall<{ merchantId: string }, NewKeyInput>) {
  if (input.kind === 'rsa' && input.publicKey === undefined)
    throw new Failure('invalid_field', {
      field: 'publicKey',
      message: 'publicKey is missing: a key for signatures is the merchant’s own.',
    })
  await prove?.()
  const outcome = await service
    .merchantActs({ operator, actor })
    .addKey(
      params.merchantId,
      input.kind === 'rsa' ? { kind: 'rsa', publicKey: input.publicKey ?? '' } : { kind: 'aes' },
      input.reason,
    )
  if (outcome.kind === 'waiting') return toOutcome(outcome.request)
  const { keyId, secret } = outcome.result
  return { outcome: 'done' as const, keyId, aesKey: secret }
}

function tellKey(
  answer: { keyId?: string; aesKey?: string } & Parameters<typeof tellWaiting>[0],
  { params }: { params: { merchantId: string } },
): Told {
  const { keyId, aesKey: secret } = answer
  return (
    tellWaiting(answer) ?? {
      text: `Key ${keyId} is live. Revoke the old one when the merchant uses this one.`,
      ...(secret !== undefined && { secrets: [['AES key', secret]] }),
      page: `/merchants/${params.merchantId}`,
    }
  )
}
