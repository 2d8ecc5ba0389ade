// Merchants' keys. Two keys of a kind may be active, so that a key can be replaced without interruption: add the new key,
// wait until the merchant uses it, revoke the old one. A secret is shown only once.
import { Failure } from '@tillgate/protocol'
import { effectsOfActions } from '../../core/authority/rules/effects.ts'
import { fingerprintOf } from '../../core/merchants/key-fingerprint.ts'
import type { ShownKey } from '../../core/merchants/manage-merchants.ts'
import { describeBreakage } from '../../core/merchants/rules/describe-breakage.ts'
import { breakageOf, liveKeys, rotationOf } from '../../core/merchants/rules/key-use.ts'
import {
  type Action,
  type ActionCommand,
  type ActionForm,
  defineAction,
  defineSharedAction,
  form,
  type PortalForm,
  type Reply,
  type SharedCall,
} from '../action.ts'
import { displayed, list, longText, object, oneOf, optional, text, timeMs, yesNo } from '../fields.ts'
import { aesKey, byMerchant, merchantId, publicKey, publicKeyCheck, reason, uuid } from '../shared-fields.ts'
import { nextStepOf, rotationGuide } from './key-rotation.ts'

const key = object('Which merchant.', { merchantId })
const page = '/merchants/:merchantId'
export const keys = list(
  'All keys, including revoked ones.',
  object('A key.', {
    keyId: uuid('The key’s ID.'),
    kind: oneOf('`rsa` for signatures, `aes` for encryption.', ['rsa', 'aes']),
    publicKey: optional(longText('For an RSA key, as PEM.', { max: 16_384 })),
    fingerprint: optional(text('For an RSA key: SHA-256 of its DER form, in hexadecimal.', { max: 64 })),
    createdAtMs: timeMs('Time of creation.'),
    usedAtMs: optional(
      timeMs(
        'Time of the last recorded request with this key. Recorded at the first request, and then at most once per minute while two keys of a kind are active.',
      ),
    ),
    sealsCallbacks: yesNo('Whether callbacks are encrypted with this key.'),
    revokedAtMs: optional(timeMs('When it was revoked.')),
  }),
)
const columns = ['keyId', 'kind', 'createdAtMs', 'usedAtMs', 'sealsCallbacks', 'revokedAtMs']
const rotations = list(
  'Key rotations in progress.',
  object('Two active keys of a kind.', {
    kind: oneOf('The kind.', ['rsa', 'aes']),
    step: oneOf('The current step.', ['install', 'wait', 'revoke']),
    next: text('The next step.', { max: 512 }),
  }),
)
const oneKey = object('Which key.', { merchantId, keyId: uuid('The key’s ID.') })
const newKey = object('The new key.', {
  kind: oneOf('`rsa` for signatures, `aes` for encryption.', ['rsa', 'aes']),
  publicKey: optional(publicKey),
  reason,
})
const added = {
  keyId: uuid('The key’s ID.'),
  aesKey: optional(aesKey),
  oldKeyId: optional(uuid('The active key that the new key can replace.')),
}
const confirm = displayed(
  yesNo(
    'Revoke the key even if requests or callbacks would fail. Otherwise, the error lists what would fail.',
  ),
  {
    initial: 'false',
    label: 'If still needed',
    choices: [
      ['false', 'do not revoke it'],
      ['true', 'revoke it anyway'],
    ],
  },
)
/** The option given determines the kind. */
const ofKind: ActionCommand = {
  flags: { aes: 'Generate a new AES key.' },
  omits: ['kind'],
  read({ aes, ...raw }) {
    if ((aes === undefined) === (raw['publicKey'] === undefined))
      throw new Failure('invalid_field', { message: 'Use either --aes or --public-key FILE.' })
    return { ...raw, kind: aes ? 'aes' : 'rsa' }
  },
}
const keyForm = {
  place: 'merchant.keys',
  page,
  needsConfirmation: true,
} as const satisfies Partial<ActionForm>

const keyScreen = {
  roles: ['owner', 'developer'],
  page: '/keys',
} as const satisfies Partial<PortalForm>

/** The subject of a key's forms. */
export interface KeyOfMerchant {
  readonly key: ShownKey
  readonly keys: readonly ShownKey[]
  readonly nowMs: number
}

export const keyActions: readonly Action[] = [
  defineAction({
    name: 'key.list',
    summary: 'List a merchant’s keys, active and revoked',
    params: key,
    answer: object('The keys.', { keys, rotations: optional(rotations) }),
    command: { columns },
    async run({ operations, context, params, nowMs }) {
      const { keys: all } = await operations.merchants.showMerchant(context, params.merchantId)
      const found = (['aes', 'rsa'] as const).flatMap((kind) => {
        const rotation = rotationOf(all, kind, nowMs)
        return rotation ? [{ kind, step: rotation.step, next: nextStepOf(rotation) }] : []
      })
      return { keys: all.map(withFingerprint), ...(found.length > 0 && { rotations: found }) }
    },
  }),
  defineSharedAction({
    name: 'key.add',
    scope: 'merchants:manage',
    summary:
      'Add a key. Existing keys stay active. The gateway generates an AES key and shows it only once; you supply an RSA public key',
    params: key,
    input: newKey,
    checks: publicKeyCheck,
    answer: object('The key.', added),
    command: ofKind,
    forms: [
      {
        ...keyForm,
        path: `${page}/keys/aes`,
        label: 'New AES key…',
        explains:
          'The key is generated and shown only once. The old key stays active. Callbacks are encrypted with the old key until the merchant sends a request with the new one.',
        button: 'Generate the key',
        fields: ['reason'],
        fixed: { kind: 'aes' },
      },
      {
        ...keyForm,
        path: `${page}/keys/rsa`,
        label: 'New RSA public key…',
        explains: 'The merchant keeps the private half. The old key stays active until you revoke it.',
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
        needsConfirmation: true,
      },
      {
        ...keyScreen,
        name: 'newRsaKey',
        path: '/keys/rsa',
        fields: ['publicKey'],
        fixed: { kind: 'rsa', reason: byMerchant },
        required: ['publicKey'],
        needsConfirmation: true,
      },
    ],
    run: addKey,
    reply: replyWithKey,
  }),
  defineAction({
    name: 'key.rotate',
    effects: effectsOfActions['key.add'],
    needs: 'admin',
    summary: 'Replace a key: add the new one and print the next steps',
    params: key,
    input: newKey,
    checks: publicKeyCheck,
    answer: object('The new key, and the old one.', added),
    command: ofKind,
    async run(call) {
      const { params, input } = call
      if (!(await liveKeyOf(call)))
        throw new Failure('status_does_not_allow', {
          message: `Merchant ${params.merchantId} has no active ${input.kind} key to rotate. Add one instead.`,
        })
      return addKey(call)
    },
    reply: replyWithKey,
  }),
  defineSharedAction({
    name: 'key.use-for-callbacks',
    scope: 'merchants:manage',
    summary: 'Use an AES key for callbacks; takes effect within 5 seconds',
    params: oneKey,
    input: object('The reason.', { reason }),
    answer: object('The key.', { keyId: uuid('The key’s ID.') }),
    form: form<KeyOfMerchant>({
      place: 'key',
      path: `${page}/keys/:keyId/use-for-callbacks`,
      page,
      label: 'Use for callbacks…',
      explains:
        'Within 5 seconds, callbacks are encrypted with this key. This lasts until the merchant sends requests with another key. The merchant must have installed this key; otherwise it rejects every callback.',
      button: 'Use for callbacks',
      isOffered: ({ key: { kind, sealsCallbacks } }) => kind === 'aes' && !sealsCallbacks,
    }),
    portal: [
      {
        ...keyScreen,
        name: 'useForCallbacks',
        path: '/keys/:keyId/use-for-callbacks',
        fields: [],
        fixed: { reason: byMerchant },
      },
    ],
    async run({ operations, context, params, input }) {
      await operations.merchants.useForCallbacks(context, { ...params, reason: input.reason })
      return { keyId: params.keyId }
    },
    reply: ({ keyId }, { params }) => ({
      text: `Callbacks are encrypted with key ${keyId} within 5 seconds.`,
      next: `key list ${params.merchantId}`,
    }),
  }),
  defineSharedAction({
    name: 'key.revoke',
    scope: 'merchants:manage',
    summary: 'Revoke a key; takes effect within 5 seconds. A key in use requires confirmation',
    params: oneKey,
    input: object('The reason.', { confirm: optional(confirm), reason }),
    answer: object('The key.', { keyId: uuid('The key’s ID.') }),
    form: form<KeyOfMerchant>({
      place: 'key',
      path: `${page}/keys/:keyId/revoke`,
      page,
      label: 'Revoke…',
      explains: ({ key: revoked, keys: all, nowMs }) =>
        [
          'The gateway rejects this key within 5 seconds.',
          describeBreakage(revoked, breakageOf(all, revoked, nowMs), nowMs),
        ].join(' '),
      button: 'Revoke the key',
      isDangerous: true,
    }),
    portal: [
      {
        ...keyScreen,
        name: 'revokeKey',
        path: '/keys/:keyId/revoke',
        fields: ['confirm'],
        fixed: { reason: byMerchant },
        isDangerous: true,
      },
    ],
    async run({ operations, context, params, input }) {
      await operations.merchants.revokeKey(context, { ...params, ...input })
      return { keyId: params.keyId }
    },
    reply: ({ keyId }) => ({
      text: `Key ${keyId} is revoked: the gateway rejects it within 5 seconds. The merchant can remove it from its settings.`,
    }),
  }),
]

export function withFingerprint(each: ShownKey) {
  return each.kind === 'rsa' ? { ...each, fingerprint: fingerprintOf(each.publicKey) } : each
}

interface NewKeyInput {
  readonly kind: 'rsa' | 'aes'
  readonly publicKey?: string
  readonly reason: string
}

type NewKeyCall = SharedCall<{ merchantId: string }, NewKeyInput>

/** The active key of the same kind, which the new key will replace. */
async function liveKeyOf({ operations, context, params, input }: NewKeyCall): Promise<ShownKey | undefined> {
  const { keys: all } = await operations.merchants.showMerchant(context, params.merchantId)
  return liveKeys(all, input.kind)[0]
}

async function addKey(call: NewKeyCall) {
  const { operations, context, params, input } = call
  if (input.kind === 'rsa' && input.publicKey === undefined)
    throw new Failure('invalid_field', {
      field: 'publicKey',
      message: 'publicKey is missing. The merchant generates its own key for signatures.',
    })
  const old = await liveKeyOf(call)
  const { keyId, secret } = await operations.merchants.addKey(
    context,
    params.merchantId,
    input.kind === 'rsa' ? { kind: 'rsa', publicKey: input.publicKey ?? '' } : { kind: 'aes' },
    { reason: input.reason },
  )
  return { keyId, aesKey: secret, oldKeyId: old?.keyId }
}

function replyWithKey(
  { keyId, aesKey: secret, oldKeyId }: { keyId: string; aesKey?: string; oldKeyId?: string },
  { params: { merchantId: of }, input: { kind } }: { params: { merchantId: string }; input: NewKeyInput },
): Reply {
  return {
    text: `Key ${keyId} is active.`,
    ...(secret !== undefined && { secrets: [['AES key', secret]] }),
    ...(oldKeyId !== undefined && {
      block: rotationGuide({ merchantId: of, kind, oldKeyId, newKeyId: keyId }),
      next: `key list ${of}`,
    }),
    page: `/merchants/${of}`,
  }
}
