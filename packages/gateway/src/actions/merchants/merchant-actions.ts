// Merchants: onboard, change, suspend, pay out; their balances and statements.
import { Failure, merchantIdPattern } from '@tillgate/protocol'
import { emailLanguages } from '../../core/emails/rules/email.ts'
import { maxLogoBytes } from '../../core/merchants/rules/logo.ts'
import { type Merchant, type MerchantSettings, normaliseColour } from '../../core/merchants/rules/merchant.ts'
import { merchantEnv } from '../../core/merchants/rules/merchant-env.ts'
import { ownMerchantId } from '../../core/orders/rules/top-up.ts'
import { type Action, defineAction, defineSharedAction, form } from '../action.ts'
import {
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
  toBalance,
} from '../shared-fields.ts'
import { keys, withFingerprint } from './key-actions.ts'

const key = object('Which merchant.', { merchantId })
const settings = {
  requestsPerSecond: optional(integer('A limit of its own.', { min: 1, max: 999_999_999 })),
  callbackHosts: optional(callbackHosts),
  accentColour: optional(
    displayed(
      matching('Of the checkout.', { regexp: /^#[0-9A-Fa-f]{6}$/, expected: 'a colour such as `#1f6f5c`' }),
      { placeholder: '#1f6f5c', fromText: (written) => normaliseColour(written) ?? written },
    ),
  ),
  defaultCallbackUrl: optional(
    displayed(text('Where callbacks go of orders that name no address.', { max: 2_048 }), {
      label: 'Callback address of orders that name none',
      placeholder: 'https://shop.example/callbacks',
    }),
  ),
  contactEmails: optional(
    displayed(
      list('Who hears by mail what the merchant should know.', text('An address.', { max: 254 }), {
        max: 10,
      }),
      { placeholder: 'ops@shop.example', fromText: (written) => written.toLowerCase() },
    ),
  ),
  contactLanguage: optional(
    displayed(oneOf('Of those messages; English unless given.', emailLanguages), {
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
const name = text('As consumers read it on the checkout.', { max: 256 })
const merchant = {
  merchantId,
  name,
  status: oneOf('suspended: its requests are refused.', ['active', 'suspended']),
  ...settings,
  createdAtMs: timeMs('Since when.'),
}
const logo = displayed(
  longText(`PNG, JPEG or WebP of at most ${maxLogoBytes / 1024} KiB, in base64.`, {
    max: Math.ceil(maxLogoBytes / 3) * 4,
  }),
  { kind: 'picture' },
)
const broughtId = displayed(
  matching('The id that it brings from another implementation of the interface; a new one when left out.', {
    regexp: merchantIdPattern,
    expected: '18 letters or digits',
  }),
  { label: 'Merchant ID, if it brings one' },
)
const page = '/merchants/:merchantId'

export const merchantActions: readonly Action[] = [
  defineAction({
    name: 'merchant.list',
    scope: 'merchants:read',
    summary: 'List merchants, newest first',
    input: object('Which page.', { before: optional(merchantId), limit }),
    answer: object('A page.', {
      merchants: list('The newest first.', object('A merchant.', merchant)),
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
      platformPublicKey: longText('What callbacks are signed with, as PEM.', { max: 16_384 }),
      gatewayUrl: text('Where the merchant sends its requests.', { max: 2_048 }),
    }),
    isOnce: true,
    form: {
      place: 'merchants',
      path: '/merchants',
      page: '/merchants',
      label: 'Sign a merchant on…',
      explains:
        'It gets a number and an AES key; the key is shown once, for you to hand over. What is left empty is the gateway’s default; the public key can be given later.',
      button: 'Sign it on',
      wantsProof: true,
    },
    async run({ operations, context, input, actId, prove }) {
      await prove?.()
      const { name: called, publicKey: given, merchantId: brought, ...rest } = input
      if (brought === ownMerchantId)
        throw new Failure('number_already_used', {
          field: 'merchantId',
          message: `${ownMerchantId} is the gateway’s own merchant already. Choose another ID, or leave it out.`,
        })
      const made = await operations.merchants.addMerchant(context, {
        ...settingsOf(rest),
        name: called,
        actId,
        ...(given !== undefined && { publicKey: given }),
        ...(brought !== undefined && { merchantId: brought }),
      })
      return {
        ...made,
        platformPublicKey: await operations.platformPublicKey(),
        gatewayUrl: operations.publicUrl,
      }
    },
    tell: ({ merchant: { merchantId: id, name: called }, aesKey: secret, ...gateway }, { input }) => ({
      text: `Merchant ${called} is signed on. Its .env is below; private.pem is its own private key.`,
      secrets: [
        ['merchantId', id],
        ['AES key', secret],
      ],
      block: merchantEnv({ ...gateway, merchantId: id, aesKey: secret }),
      page: `/merchants/${id}`,
      ...(input.publicKey === undefined && {
        next: `key add ${id} --public-key FILE --reason "signed on"`,
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
    summary: 'Change the given settings, everywhere within 5 seconds',
    params: key,
    input: object('What to change.', {
      name: optional(name),
      ...settings,
      clear: optional(list('What goes back to the default.', oneOf('A setting.', settingNames))),
      reason,
    }),
    answer: object('The merchant as it is now.', merchant),
    command: {
      omits: ['clear'],
      read: clearing(settingNames, 'default'),
      help: 'A setting that is given as "default" goes back to the gateway’s own.',
    },
    form: {
      place: 'merchant',
      page,
      label: 'Change…',
      explains:
        'Changes apply everywhere within 5 seconds. What is left empty goes back to the gateway’s default.',
      button: 'Change',
      fields: ['name', ...settingNames, 'reason'],
      required: ['name'],
      read: clearing(settingNames, ''),
      wantsProof: true,
    },
    portal: [
      {
        roles: ['owner', 'developer'],
        name: 'settings',
        page: '/settings',
        fields: ownSettings,
        fixed: { reason: byMerchant },
        read: clearing(ownSettings, ''),
        wantsProof: true,
      },
    ],
    async run({ operations, context, params, input, prove }) {
      await prove?.()
      const { clear = [], reason: why, ...given } = input
      const cleared = Object.fromEntries(clear.map((each) => [each, undefined]))
      return operations.merchants.changeMerchant(
        context,
        params.merchantId,
        { ...settingsOf(given), ...cleared },
        { reason: why },
      )
    },
    tell: () => ({ text: 'The settings are changed, everywhere within 5 seconds.' }),
  }),
  defineSharedAction({
    name: 'merchant.logo',
    command: false,
    scope: 'merchants:manage',
    summary: 'Give a merchant a logo for the checkout, or take it away',
    params: key,
    input: object('The picture; left out, there is none any more.', { logo: optional(logo) }),
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
      summary: verb === 'suspend' ? 'Suspend a merchant. Nothing is lost' : 'Resume a merchant',
      params: key,
      input: object('Why.', { reason }),
      answer: object('The merchant.', merchant),
      form: form<Merchant>({
        place: 'merchant',
        page,
        label: verb === 'suspend' ? 'Suspend…' : 'Resume…',
        explains:
          verb === 'suspend'
            ? 'Its requests are answered 40300 within 5 seconds, its orders cannot be paid meanwhile, and its members change nothing in the portal. Nothing of it is lost.'
            : 'Its requests are served again within 5 seconds.',
        button: verb === 'suspend' ? 'Suspend the merchant' : 'Resume the merchant',
        ...(verb === 'suspend' && { isDangerous: true }),
        isOffered: ({ status }) => (status === 'active') === (verb === 'suspend'),
      }),
      run: async ({ operations, context, params, input }) =>
        operations.merchants[`${verb}Merchant`](context, params.merchantId, input.reason),
      tell: ({ name: called }) => ({
        text:
          verb === 'suspend'
            ? `Merchant ${called} is suspended: its requests are answered 40300 within 5 seconds.`
            : `Merchant ${called} is active again.`,
      }),
    }),
  ),
  defineAction({
    name: 'merchant.statement',
    scope: 'merchants:read',
    summary: 'Download a merchant’s statement with opening and closing balance, as CSV',
    params: key,
    input: object('Which time.', {
      sinceMs: optional(timeMs('From this time on.')),
      untilMs: optional(timeMs('Before this time.')),
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
