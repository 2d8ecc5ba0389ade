// Merchants: onboard, change, suspend, pay out; their balances and statements.
import { Failure, merchantIdPattern } from '@tillgate/protocol'
import { emailLanguages } from '../../core/emails/rules/email.ts'
import { maxLogoBytes } from '../../core/merchants/rules/logo.ts'
import { type Merchant, type MerchantSettings, normaliseColour } from '../../core/merchants/rules/merchant.ts'
import { merchantEnv } from '../../core/merchants/rules/merchant-env.ts'
import { ownMerchantId } from '../../core/orders/rules/top-up.ts'
import { type Action, defineAction, defineSharedAction, form } from '../action.ts'
import {
  described,
  displayed,
  integer,
  list,
  longText,
  matching,
  object,
  oneOf,
  optional,
  text,
  timeMs,
} from '../fields.ts'
import {
  aesKey,
  balances,
  byMerchant,
  callbackHosts,
  clearing,
  limit,
  merchantId,
  nextPage,
  pageOf,
  publicKey,
  publicKeyCheck,
  reason,
  shownUrl,
  toBalance,
} from '../shared-fields.ts'
import { keys, withFingerprint } from './key-actions.ts'

const key = object('Which merchant.', { merchantId })
const settings = {
  requestsPerSecond: optional(integer('A limit for this merchant.', { min: 1, max: 999_999_999 })),
  callbackHosts: optional(callbackHosts),
  accentColour: optional(
    displayed(
      matching('The accent color of the checkout.', {
        regexp: /^#[0-9A-Fa-f]{6}$/,
        expected: 'a color such as `#1f6f5c`',
      }),
      { placeholder: '#1f6f5c', fromText: (written) => normaliseColour(written) ?? written },
    ),
  ),
  defaultCallbackUrl: optional(
    displayed(text('The callback URL for orders that do not set one.', { max: 2_048 }), {
      label: 'Default callback URL',
      placeholder: 'https://shop.example/callbacks',
      shown: shownUrl,
    }),
  ),
  contactEmails: optional(
    displayed(
      list('Recipients of emails to the merchant.', text('An address.', { max: 254 }), {
        max: 10,
      }),
      { placeholder: 'ops@shop.example', fromText: (written) => written.toLowerCase() },
    ),
  ),
  contactLanguage: optional(
    displayed(oneOf('Language of those emails; English by default.', emailLanguages), {
      choices: [['', 'English'], ...emailLanguages.slice(1).map((tag) => [tag, tag] as const)],
    }),
  ),
}
// Safe: these are its own keys.
const settingNames = Object.keys(settings) as (keyof typeof settings)[]
/**
 * Settings that a merchant may change. The name is excluded because consumers trust it, and the rate because the
 * operator sets it.
 */
const ownSettings = ['defaultCallbackUrl', 'callbackHosts', 'accentColour'] as const
const name = text('As shown to consumers on the checkout.', { max: 256 })
const merchant = {
  merchantId,
  name,
  status: oneOf('suspended: all its requests are rejected.', ['active', 'suspended']),
  ...settings,
  createdAtMs: timeMs('Time of creation.'),
}
const logo = displayed(
  longText(`PNG, JPEG or WebP of at most ${maxLogoBytes / 1024} KiB, in base64.`, {
    max: Math.ceil(maxLogoBytes / 3) * 4,
  }),
  { kind: 'picture' },
)
const broughtId = displayed(
  matching('A merchantId from another implementation of the interface; a new one by default.', {
    regexp: merchantIdPattern,
    expected: '18 letters or digits',
  }),
  { label: 'Merchant ID (optional)' },
)
const page = '/merchants/:merchantId'

export const merchantActions: readonly Action[] = [
  defineAction({
    name: 'merchant.list',
    scope: 'merchants:read',
    summary: 'List merchants, newest first',
    input: object('Which page.', {
      before: optional(described('Only merchants older than this one.', merchantId)),
      limit,
    }),
    answer: object('A page.', {
      merchants: list('Newest first.', object('A merchant.', merchant)),
      older: optional(text(nextPage, { max: 18 })),
    }),
    command: { columns: ['merchantId', 'name', 'status', 'createdAtMs'] },
    run: ({ operations, context, input }) =>
      pageOf('merchants', input, {
        read: (page) => operations.merchants.listMerchants(context, page),
        keyOf: (each) => each.merchantId,
      }),
  }),
  defineAction({
    name: 'merchant.add',
    scope: 'merchants:manage',
    summary: 'Onboard a merchant. The AES key is shown only once',
    input: object('The merchant.', {
      name,
      ...settings,
      publicKey: optional(publicKey),
      merchantId: optional(broughtId),
    }),
    checks: publicKeyCheck,
    answer: object('The merchant and its key.', {
      merchant: object('The merchant.', merchant),
      aesKey,
      platformPublicKey: longText('The key that signs callbacks, as PEM.', { max: 16_384 }),
      gatewayUrl: text('The address for the merchant’s requests.', { max: 2_048 }),
    }),
    isOnce: true,
    form: {
      place: 'merchants',
      path: '/merchants',
      page: '/merchants',
      label: 'Onboard a merchant…',
      explains:
        'The merchant gets an ID and an AES key. The key is shown only once; give it to the merchant. Empty fields use the gateway’s defaults, and the public key can be added later.',
      button: 'Onboard merchant',
      needsConfirmation: true,
    },
    async run({ operations, context, input, idempotencyKey }) {
      const { name: called, publicKey: given, merchantId: brought, ...rest } = input
      if (brought === ownMerchantId)
        throw new Failure('number_already_used', {
          field: 'merchantId',
          message: `${ownMerchantId} is the gateway’s own merchant ID. Choose another ID, or leave it empty.`,
        })
      const made = await operations.merchants.addMerchant(context, {
        ...settingsOf(rest),
        name: called,
        idempotencyKey,
        ...(given !== undefined && { publicKey: given }),
        ...(brought !== undefined && { merchantId: brought }),
      })
      return {
        ...made,
        platformPublicKey: await operations.platformPublicKey(),
        gatewayUrl: operations.publicUrl,
      }
    },
    reply: ({ merchant: { merchantId: id, name: called }, aesKey: secret, ...gateway }, { input }) => ({
      text: `Merchant ${called} was onboarded. Its .env is below; private.pem is the merchant’s own private key.`,
      secrets: [
        ['merchantId', id],
        ['AES key', secret],
      ],
      block: merchantEnv({ ...gateway, merchantId: id, aesKey: secret }),
      page: `/merchants/${id}`,
      ...(input.publicKey === undefined && {
        next: `key add ${id} --public-key FILE --reason "onboarded"`,
      }),
    }),
  }),
  defineAction({
    name: 'merchant.show',
    scope: 'merchants:read',
    summary: 'Show a merchant with its keys and balances',
    params: key,
    answer: object('A merchant.', { ...merchant, keys, balances }),
    command: { columns: ['keyId', 'kind', 'createdAtMs', 'revokedAtMs'] },
    async run({ operations, context, params }) {
      const found = await operations.merchants.showMerchant(context, params.merchantId)
      const accounts = await operations.listMerchantAccounts(context, params.merchantId)
      return { ...found.merchant, keys: found.keys.map(withFingerprint), balances: accounts.map(toBalance) }
    },
  }),
  defineSharedAction({
    name: 'merchant.change',
    scope: 'merchants:manage',
    summary: 'Change a merchant’s settings; takes effect within 5 seconds',
    params: key,
    input: object('The settings to change.', {
      name: optional(name),
      ...settings,
      clear: optional(list('Settings to reset to the default.', oneOf('A setting.', settingNames))),
      reason,
    }),
    answer: object('The merchant after the change.', merchant),
    command: {
      omits: ['clear'],
      read: clearing(settingNames, 'default'),
      help: 'Pass "default" to reset a setting to the gateway’s default.',
    },
    form: {
      place: 'merchant',
      page,
      label: 'Change…',
      explains: 'Changes apply within 5 seconds. Empty fields are reset to the gateway’s default.',
      button: 'Change',
      fields: ['name', ...settingNames, 'reason'],
      required: ['name'],
      read: clearing(settingNames, ''),
      needsConfirmation: true,
    },
    portal: [
      {
        roles: ['owner', 'developer'],
        name: 'settings',
        page: '/settings',
        fields: ownSettings,
        fixed: { reason: byMerchant },
        read: clearing(ownSettings, ''),
        needsConfirmation: true,
      },
    ],
    async run({ operations, context, params, input }) {
      const { clear = [], reason: why, ...given } = input
      const cleared = Object.fromEntries(clear.map((each) => [each, undefined]))
      return operations.merchants.changeMerchant(
        context,
        params.merchantId,
        { ...settingsOf(given), ...cleared },
        { reason: why },
      )
    },
    reply: () => ({ text: 'The settings were changed. They apply within 5 seconds.' }),
  }),
  defineSharedAction({
    name: 'merchant.logo',
    command: false,
    scope: 'merchants:manage',
    summary: 'Set or remove a merchant’s checkout logo',
    params: key,
    input: object('The image. Omit it to remove the logo.', { logo: optional(logo) }),
    answer: object('The merchant.', { merchantId }),
    portal: [{ roles: ['owner', 'developer'], name: 'logo', path: '/settings/logo', page: '/settings' }],
    async run({ operations, context, params, input }) {
      await operations.merchants.setLogo(context, params.merchantId, input.logo)
      return params
    },
  }),
  ...(['suspend', 'resume'] as const).map((verb) =>
    defineAction({
      name: `merchant.${verb}`,
      scope: 'merchants:manage',
      summary: verb === 'suspend' ? 'Suspend a merchant. Data is kept' : 'Resume a merchant',
      params: key,
      input: object('The reason.', { reason }),
      answer: object('The merchant.', merchant),
      form: form<Merchant>({
        place: 'merchant',
        page,
        label: verb === 'suspend' ? 'Suspend…' : 'Resume…',
        explains:
          verb === 'suspend'
            ? 'Within 5 seconds, the merchant’s requests are rejected with code 40300, its orders cannot be paid, and its members cannot change anything in the portal. Data is kept.'
            : 'The merchant’s requests are accepted again within 5 seconds.',
        button: verb === 'suspend' ? 'Suspend merchant' : 'Resume merchant',
        ...(verb === 'suspend' && { isDangerous: true }),
        isOffered: ({ status }) => (status === 'active') === (verb === 'suspend'),
      }),
      run: async ({ operations, context, params, input }) =>
        operations.merchants[`${verb}Merchant`](context, params.merchantId, input.reason),
      reply: ({ name: called }) => ({
        text:
          verb === 'suspend'
            ? `Merchant ${called} is suspended: its requests are rejected with 40300 within 5 seconds.`
            : `Merchant ${called} is active again.`,
      }),
    }),
  ),
  defineAction({
    name: 'merchant.statement',
    scope: 'merchants:read',
    summary: 'Download a merchant’s statement with opening and closing balance, as CSV',
    params: key,
    input: object('The period.', {
      sinceMs: optional(timeMs('Start of the period.')),
      untilMs: optional(timeMs('End of the period, exclusive.')),
    }),
    answer: 'csv',
    async run({ operations, context, params, input, nowMs }) {
      await operations.merchants.showMerchant(context, params.merchantId)
      const fromMs = input.sinceMs ?? 0
      const toMs = Math.max(fromMs, input.untilMs ?? nowMs + 1)
      return operations.writeStatement(context, { merchantId: params.merchantId, fromMs, toMs })
    },
  }),
]

function settingsOf<Given extends MerchantSettings>(given: Given): Given {
  const { accentColour, callbackHosts: hosts } = given
  return {
    ...given,
    ...(accentColour !== undefined && { accentColour: normaliseColour(accentColour) }),
    ...(hosts && { callbackHosts: hosts.map((host) => host.toLowerCase()) }),
  }
}
