// External rails: register, change, pause, resume, and replace secrets.
import { digitsOf, Failure, isCurrencyCode, toDecimalText, toPositiveMinorUnits } from '@tillgate/protocol'
import type { Attempt } from '../../finance/rails/rules/attempt.ts'
import {
  checkLogo,
  defaultPosition,
  describeRailReach,
  type OutsideRail,
  type RailSettings,
  railIdPattern,
} from '../../finance/rails/rules/outside-rail.ts'
import type { BankAccount } from '../../finance/rails/rules/transfer-account.ts'
import { type Action, defineAction, form } from '../action.ts'
import {
  count,
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
  yesNo,
} from '../fields.ts'
import {
  balances,
  clearing,
  currency,
  endOthers,
  merchantId,
  reason,
  shownUrl,
  toBalance,
  uuid,
} from '../shared-fields.ts'

export const railId = displayed(
  matching('The rail’s short name, which cannot change.', {
    regexp: railIdPattern,
    expected: '1 to 32 lower-case letters, digits and dashes, starting with a letter',
  }),
  { option: 'id', placeholder: 'bank' },
)
export const railKey = object('Which rail.', { railId })
export const name = displayed(text('As shown to consumers at the checkout.', { max: 64 }), {
  placeholder: 'My bank',
})
const url = displayed(
  text('The rail’s URL, which receives the gateway’s messages: https, or http in the sandbox.', {
    max: 2048,
  }),
  {
    placeholder: 'https://bank.example/tillgate',
    shown: shownUrl,
  },
)
export const currencies = displayed(list('The currencies that the rail accepts.', currency, { max: 300 }), {
  placeholder: 'EUR, USD',
  fromText: (written) => written.toUpperCase(),
})
const limits = (description: string, label: string) =>
  displayed(
    list(
      description,
      matching('An amount and its currency.', {
        regexp: /^[0-9]{1,18}(\.[0-9]{1,4})? [A-Z]{3}$/,
        expected: 'an amount and its currency, such as 1.00 EUR',
      }),
      { max: 300 },
    ),
    { label, placeholder: '1.00 EUR, 1.00 USD', fromText: (written) => written.toUpperCase() },
  )
export const extras = {
  names: optional(
    displayed(
      list(
        'Names in other languages.',
        matching('A language tag and the name.', {
          regexp: /^[a-z]{2}=\S.{0,63}$/u,
          expected: 'a language tag and a name, such as de=Meine Bank',
        }),
        { max: 20 },
      ),
      {
        label: 'Names in other languages',
        kind: 'lines',
        placeholder: 'de=Meine Bank, fr=Ma banque',
      },
    ),
  ),
  least: optional(limits('Minimum amounts.', 'Minimum amounts, separated by commas')),
  most: optional(limits('Maximum amounts.', 'Maximum amounts, separated by commas')),
  merchants: optional(
    list('Only offered for these merchants; for all by default.', merchantId, { max: 1000 }),
  ),
  position: optional(
    integer(`Position at the checkout, lowest number first; ${defaultPosition} by default.`, {
      min: 0,
      max: 9999,
    }),
  ),
  logo: optional(displayed(longText('An SVG image of at most 16 KiB.', { max: 16_384 }), { kind: 'long' })),
  authorizationDays: optional(
    integer(
      'Number of days that the rail reserves money until a capture. If omitted, the rail is not offered for orders with captureMode manual.',
      { min: 1, max: 30 },
    ),
  ),
}
// Safe: these are its own keys.
const extraNames = Object.keys(extras) as (keyof typeof extras)[]
export const accountFields = {
  holder: displayed(text('The account holder’s name as registered with the bank.', { max: 140 }), {
    placeholder: 'Example GmbH',
  }),
  iban: optional(
    displayed(text('The account’s IBAN; without one, use lines.', { max: 42 }), {
      label: 'IBAN',
      placeholder: 'DE89 3704 0044 0532 0130 00',
    }),
  ),
  bic: optional(
    displayed(text('The bank’s BIC.', { max: 11 }), { label: 'BIC', placeholder: 'COBADEFFXXX' }),
  ),
  lines: optional(
    displayed(
      list(
        'Further lines that identify the account.',
        matching('A label and its value.', {
          regexp: /^[^=]{1,64}=\S.{0,255}$/u,
          expected: 'a label and a value, such as Sort code=20-00-00',
        }),
        { max: 10 },
      ),
      { kind: 'lines', placeholder: 'Account number=12345678, Sort code=20-00-00' },
    ),
  ),
}
const rail = {
  railId,
  name,
  url: optional(url),
  account: optional(object('The account that consumers pay to by bank transfer.', accountFields)),
  currencies,
  ...extras,
  isPaused: yesNo('Paused by an operator: not offered, and pending payments continue.'),
  failures: count('Consecutive failed calls.'),
  lastFailure: optional(text('The last error.', { max: 1024 })),
  pausedUntilMs: optional(timeMs('Paused after failures: not called before this time.')),
  createdAtMs: timeMs('Time of creation.'),
}
const transactionId = text('The transactionId of the attempt.', { max: 30 })
const secret = text('Signs messages in both directions. Shown only once; store it now.', { max: 128 })
const page = '/rails/:railId'

export const railChecks: Action['checks'] = {
  currencies: ({ currencies: codes }) => {
    for (const code of codes as string[]) digitsOf(code)
  },
  least: ({ least }) => void minorByCurrency(least as string[], 'least'),
  most: ({ most }) => void minorByCurrency(most as string[], 'most'),
  logo: ({ logo }) => checkLogo(String(logo)),
}

export const railActions: readonly Action[] = [
  defineAction({
    name: 'rail.list',
    scope: 'rails:read',
    summary: 'List rails in checkout order',
    answer: object('All rails.', { rails: list('All rails.', object('A rail.', rail)) }),
    command: { columns: ['railId', 'name', 'url', 'currencies', 'isPaused', 'failures'] },
    run: async ({ operations, context }) => ({
      rails: (await operations.rails.listRails(context)).map(toAnswer),
    }),
  }),
  defineAction({
    name: 'rail.show',
    scope: 'rails:read',
    summary: 'Show a rail with its secrets’ ages and collected money',
    params: railKey,
    answer: object('A rail.', {
      ...rail,
      secrets: list(
        'The valid ones, newest first.',
        object('A secret; its value is not shown again.', {
          secretId: uuid('The secret’s ID.'),
          createdAtMs: timeMs('Time of creation.'),
        }),
      ),
      balances,
    }),
    command: { columns: ['secretId', 'createdAtMs'] },
    async run({ operations, context, params }) {
      const found = await operations.rails.showRail(context, params.railId)
      const accounts = await operations.listRailAccounts(context, params.railId)
      return {
        ...toAnswer(found.rail),
        secrets: found.secrets,
        balances: accounts.map(toBalance),
      }
    },
  }),
  defineAction({
    name: 'rail.add',
    scope: 'rails:manage',
    summary: 'Register a rail. The secret is shown only once',
    input: object('The rail.', { railId, name, url, currencies, ...extras, reason }),
    checks: railChecks,
    answer: object('The rail and its secret.', { rail: object('The rail.', rail), secret }),
    form: {
      place: 'rails',
      path: '/rails',
      page: '/rails',
      label: 'Add a rail…',
      explains:
        'The checkout offers the rail within 5 seconds. Its secret signs messages in both directions and is shown only once. Enter it in the rail’s settings.',
      button: 'Add rail',
      needsConfirmation: true,
    },
    async run({ operations, context, input }) {
      const { railId: id, reason: why, ...given } = input
      const made = await operations.rails.addRail(context, id, { ...noExtras, ...settingsOf(given) }, why)
      return { rail: toAnswer(made.rail), secret: made.secret }
    },
    reply: ({ rail: { railId: id, name: called }, secret: newSecret }) => ({
      text: `Rail ${called} was added. The checkout offers it within 5 seconds.`,
      secrets: [['secret', newSecret]],
      page: `/rails/${id}`,
    }),
  }),
  defineAction({
    name: 'rail.change',
    scope: 'rails:manage',
    summary: 'Change a rail’s settings; takes effect within 5 seconds',
    params: railKey,
    input: object('The settings to change.', {
      name: optional(name),
      url: optional(url),
      currencies: optional(currencies),
      ...extras,
      clear: optional(list('Settings to reset to the default.', oneOf('A setting.', extraNames))),
      reach: optional(
        displayed(longText('The rail when this was requested.', { max: 65_536 }), {
          only: 'request',
          label: 'Rail at time of request',
        }),
      ),
      reason,
    }),
    checks: railChecks,
    answer: object('The rail after the change.', rail),
    command: {
      omits: ['clear', 'reach'],
      read: clearing(extraNames, 'default'),
      help: 'Pass "default" to reset a setting.',
    },
    form: {
      place: 'rail',
      page,
      label: 'Change…',
      explains: 'Changes apply within 5 seconds. Empty fields are reset to their defaults.',
      button: 'Change',
      fields: ['name', 'url', 'currencies', ...extraNames, 'reason'],
      required: ['name', 'currencies'],
      read: clearing(extraNames, ''),
      needsConfirmation: true,
    },
    pin: async ({ operations, context, params }) => ({
      reach: describeRailReach((await operations.rails.showRail(context, params.railId)).rail),
    }),
    async run({ operations, context, params, input }) {
      const { clear = [], reason: why, reach, ...given } = input
      const cleared: Partial<RailSettings> = Object.assign({}, ...clear.map((each) => defaults[each]))
      const settings = { ...settingsOf(given), ...cleared }
      return toAnswer(await operations.rails.changeRail(context, params.railId, settings, why, reach))
    },
    reply: () => ({ text: 'The rail was changed. The change applies within 5 seconds.' }),
  }),
  ...(['pause', 'resume'] as const).map((verb) =>
    defineAction({
      name: `rail.${verb}`,
      scope: 'rails:manage',
      summary:
        verb === 'pause' ? 'Remove a rail from the checkout' : 'Offer a rail again, and reset its failures',
      params: railKey,
      input: object('The reason.', { reason }),
      answer: object('The rail.', rail),
      form: form<OutsideRail>({
        place: 'rail',
        page,
        label: verb === 'pause' ? 'Pause…' : 'Resume…',
        explains:
          verb === 'pause'
            ? 'The rail leaves the checkout within 5 seconds. Pending payments and refunds continue.'
            : 'The rail is offered again within 5 seconds, and its failures are reset.',
        button: verb === 'pause' ? 'Pause rail' : 'Resume rail',
        isOffered: ({ isPaused, failures }) => (verb === 'pause' ? !isPaused : isPaused || failures > 0),
      }),
      run: async ({ operations, context, params, input }) =>
        toAnswer(await operations.rails[`${verb}Rail`](context, params.railId, input.reason)),
      reply: ({ name: called }) => ({
        text:
          verb === 'pause'
            ? `${called} is no longer offered. Pending payments continue.`
            : `${called} is offered again.`,
      }),
    }),
  ),
  defineAction({
    name: 'rail.rotate-secret',
    scope: 'rails:manage',
    summary: 'Create a new secret. The previous one stays valid until the next rotation',
    params: railKey,
    input: object('The options.', {
      endOthers,
      reason,
    }),
    answer: object('The new secret.', { railId, secret }),
    isOnce: true,
    form: form<OutsideRail>({
      place: 'rail',
      path: `${page}/secrets`,
      page,
      label: 'Rotate the secret…',
      explains:
        'Messages are signed with the new and the previous secret, and notifications are accepted with either, until the next rotation.',
      button: 'Create secret',
      isOffered: ({ account }) => !account,
      needsConfirmation: true,
    }),
    async run({ operations, context, params, input: { endOthers, reason: why }, idempotencyKey }) {
      const made = await operations.rails.rotateSecret(context, params.railId, {
        endsOthers: endOthers,
        reason: why,
        idempotencyKey,
      })
      return { railId: params.railId, secret: made.secret }
    },
    reply: ({ railId: id, secret: newSecret }, { input }) => ({
      text: `The new secret of ${id} is below. ${input.endOthers ? 'All previous secrets are revoked.' : 'The previous secret stays valid until the next rotation.'}`,
      secrets: [['secret', newSecret]],
      page: `/rails/${id}`,
    }),
  }),
  defineAction({
    name: 'rail.return-late-money',
    apiPath: '/late-money/:merchantId/:transactionId/return',
    scope: 'money:move',
    summary: 'Return held late money through its rail',
    params: object('Which attempt.', { merchantId, transactionId }),
    input: object('The reason.', { reason }),
    answer: object('The attempt.', { transactionId, railId, returnId: transactionId }),
    forms: [
      form<Attempt>({
        place: 'attempt',
        path: '/orders/:merchantId/:paymentId/late-money/:transactionId/return',
        page: '/orders/:merchantId/:paymentId',
        label: 'Return…',
        explains:
          'The money leaves suspense when the rail has accepted the return. If the rail rejects it, the money stays held.',
        button: 'Return money',
        isDangerous: true,
        isOffered: ({ status }) => status === 'held',
      }),
    ],
    async run({ operations, context, params, input }) {
      const returned = await operations.returnLateMoney(context, params, input.reason)
      const { transactionId: id, railId: rail, returnId = '' } = returned
      return { transactionId: id, railId: rail, returnId }
    },
    reply: ({ railId: rail }) => ({ text: `The money is being returned through ${rail}.` }),
  }),
]

export const railAnswer = object('The rail.', rail)

/** Defaults of the optional settings. */
const defaults = {
  names: { names: {} },
  least: { leastMinor: {} },
  most: { mostMinor: {} },
  merchants: { merchants: undefined },
  position: { position: defaultPosition },
  logo: { logo: undefined },
  authorizationDays: { authorizationDays: undefined },
} as const satisfies Record<keyof typeof extras, Partial<RailSettings>>
export const noExtras = {
  ...defaults.names,
  ...defaults.least,
  ...defaults.most,
  ...defaults.merchants,
  ...defaults.position,
  ...defaults.logo,
  ...defaults.authorizationDays,
}

interface Given extends Partial<Pick<RailSettings, 'merchants' | 'position' | 'logo' | 'authorizationDays'>> {
  readonly names?: readonly string[]
  readonly least?: readonly string[]
  readonly most?: readonly string[]
}

export function settingsOf<G extends Given>({ names, least, most, ...rest }: G) {
  return {
    ...rest,
    ...(names && { names: Object.fromEntries(names.map(splitName)) }),
    ...(least && { leastMinor: minorByCurrency(least, 'least') }),
    ...(most && { mostMinor: minorByCurrency(most, 'most') }),
  }
}

export function splitName(written: string): [string, string] {
  const at = written.indexOf('=')
  return [written.slice(0, at), written.slice(at + 1).trim()]
}

function minorByCurrency(written: readonly string[], field: string): Record<string, bigint> {
  return Object.fromEntries(
    written.map((each) => {
      const [figure = '', code = ''] = each.split(' ')
      if (!isCurrencyCode(code))
        throw new Failure('invalid_field', { field, message: `Unknown currency: ${code}.` })
      return [code, toPositiveMinorUnits(figure, code, field)]
    }),
  )
}

/** As shown to people. */
export function writtenLimits(limits: Readonly<Record<string, bigint>>): string[] {
  return Object.entries(limits).map(([code, minor]) => `${toDecimalText(minor, code)} ${code}`)
}

export function writtenNames({ names }: OutsideRail): string[] {
  return Object.entries(names).map(([language, called]) => `${language}=${called}`)
}

export function writtenLines({ lines }: BankAccount): string[] {
  return lines.map(({ label, value }) => `${label}=${value}`)
}

export function toAnswer(given: OutsideRail) {
  const { account } = given
  return {
    ...given,
    account: account && { ...account, lines: writtenLines(account) },
    names: writtenNames(given),
    least: writtenLimits(given.leastMinor),
    most: writtenLimits(given.mostMinor),
  }
}
