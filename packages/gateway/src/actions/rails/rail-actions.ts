// External rails: register, change, pause, resume, and replace secrets.
import { digitsOf, Failure, isCurrencyCode, toDecimalText, toPositiveMinorUnits } from '@tillgate/protocol'
import type { Attempt } from '../../finance/rails/rules/attempt.ts'
import type { BankAccount } from '../../finance/rails/rules/bank-account.ts'
import {
  checkLogo,
  defaultPosition,
  type OutsideRail,
  type RailSettings,
  railIdPattern,
} from '../../finance/rails/rules/outside-rail.ts'
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
import { balances, clearing, currency, merchantId, reason, toBalance, uuid } from '../shared-fields.ts'

export const railId = displayed(
  matching('Its short name, which never changes.', {
    regexp: railIdPattern,
    expected: '1 to 32 small letters, digits and dashes, a letter first',
  }),
  { option: 'id', placeholder: 'bank' },
)
export const railKey = object('Which rail.', { railId })
export const name = displayed(text('As consumers read it at the checkout.', { max: 64 }), {
  placeholder: 'My bank',
})
const url = displayed(text('Where messages are sent: https, in the sandbox http too.', { max: 2048 }), {
  placeholder: 'https://bank.example/tillgate',
})
export const currencies = displayed(list('What it takes.', currency, { max: 300 }), {
  placeholder: 'EUR, USD',
  fromText: (written) => written.toUpperCase(),
})
const limits = (description: string) =>
  displayed(
    list(
      description,
      matching('An amount and its currency.', {
        regexp: /^[0-9]{1,18}(\.[0-9]{1,4})? [A-Z]{3}$/,
        expected: 'an amount and its currency, such as 1.00 EUR',
      }),
      { max: 300 },
    ),
    { placeholder: '1.00 EUR, 1.00 USD', fromText: (written) => written.toUpperCase() },
  )
export const extras = {
  names: optional(
    displayed(
      list(
        'The name in other languages.',
        matching('A language and the name in it.', {
          regexp: /^[a-z]{2}=\S.{0,63}$/u,
          expected: 'a language and a name, such as de=Meine Bank',
        }),
        { max: 20 },
      ),
      { kind: 'lines', placeholder: 'de=Meine Bank, fr=Ma banque' },
    ),
  ),
  least: optional(limits('The least that it takes.')),
  most: optional(limits('The most that it takes.')),
  merchants: optional(
    list('The only merchants that it is offered for; all unless given.', merchantId, { max: 1000 }),
  ),
  position: optional(
    integer(`Place at the checkout, the lowest first; ${defaultPosition} unless given.`, {
      min: 0,
      max: 9999,
    }),
  ),
  logo: optional(displayed(longText('An SVG image, 16 KiB at most.', { max: 16_384 }), { kind: 'long' })),
}
// Safe: these are its own keys.
const extraNames = Object.keys(extras) as (keyof typeof extras)[]
export const accountFields = {
  holder: displayed(text('Whose account it is, as the bank has it.', { max: 140 }), {
    placeholder: 'Example GmbH',
  }),
  iban: optional(
    displayed(text('The account’s IBAN; where there is none, lines.', { max: 42 }), {
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
        'What else says which account it is.',
        matching('What it is called, and the thing itself.', {
          regexp: /^[^=]{1,64}=\S.{0,255}$/u,
          expected: 'a name and a value, such as Sort code=20-00-00',
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
  isPaused: yesNo('By an operator: it is not offered, and what is under way goes on.'),
  failures: count('Calls that failed in a row.'),
  lastFailure: optional(text('What the last failure was.', { max: 1024 })),
  pausedUntilMs: optional(timeMs('By its failures: nothing is asked of it before.')),
  createdAtMs: timeMs('Since when.'),
}
const transactionId = text('The transactionId of the attempt.', { max: 30 })
const secret = text('Signs messages both ways. Told this once: hand it over now.', { max: 128 })
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
    summary: 'List rails, in the order of the checkout',
    answer: object('All of them.', { rails: list('All of them.', object('A rail.', rail)) }),
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
        'Those that are good, the newest first.',
        object('A secret; what it is nobody is told again.', {
          secretId: uuid('Its number.'),
          createdAtMs: timeMs('Since when.'),
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
        'Consumers can choose it within 5 seconds. It gets a secret, which is shown once, for you to hand over: messages both ways are signed with it.',
      button: 'Add it',
      wantsProof: true,
    },
    async run({ operations, context, input, prove }) {
      await prove?.()
      const { railId: id, reason: why, ...given } = input
      const made = await operations.rails.addRail(context, id, { ...noExtras, ...settingsOf(given) }, why)
      return { rail: toAnswer(made.rail), secret: made.secret }
    },
    tell: ({ rail: { railId: id, name: called }, secret: told }) => ({
      text: `Rail ${called} is registered and offered at checkouts within 5 seconds.`,
      secrets: [['secret', told]],
      page: `/rails/${id}`,
    }),
  }),
  defineAction({
    name: 'rail.change',
    scope: 'rails:manage',
    summary: 'Change the given settings, everywhere within 5 seconds',
    params: railKey,
    input: object('What to change.', {
      name: optional(name),
      url: optional(url),
      currencies: optional(currencies),
      ...extras,
      clear: optional(list('What goes back to the default.', oneOf('A setting.', extraNames))),
      reason,
    }),
    checks: railChecks,
    answer: object('The rail as it is now.', rail),
    command: {
      omits: ['clear'],
      read: clearing(extraNames, 'default'),
      help: 'A setting that is given as "default" goes back to what it is where nothing is given.',
    },
    form: {
      place: 'rail',
      page,
      label: 'Change…',
      explains: 'Changes apply everywhere within 5 seconds. What is left empty goes back to the default.',
      button: 'Change',
      fields: ['name', 'url', 'currencies', ...extraNames, 'reason'],
      required: ['name', 'currencies'],
      read: clearing(extraNames, ''),
      wantsProof: true,
    },
    async run({ operations, context, params, input, prove }) {
      await prove?.()
      const { clear = [], reason: why, ...given } = input
      const cleared: Partial<RailSettings> = Object.assign({}, ...clear.map((each) => defaults[each]))
      const settings = { ...settingsOf(given), ...cleared }
      return toAnswer(await operations.rails.changeRail(context, params.railId, settings, why))
    },
    tell: () => ({ text: 'The rail is changed, everywhere within 5 seconds.' }),
  }),
  ...(['pause', 'resume'] as const).map((verb) =>
    defineAction({
      name: `rail.${verb}`,
      scope: 'rails:manage',
      summary:
        verb === 'pause' ? 'Remove a rail from the checkout' : 'Offer a rail again, and reset its failures',
      params: railKey,
      input: object('Why.', { reason }),
      answer: object('The rail.', rail),
      form: form<OutsideRail>({
        place: 'rail',
        page,
        label: verb === 'pause' ? 'Pause…' : 'Resume…',
        explains:
          verb === 'pause'
            ? 'It leaves the checkout within 5 seconds. Payments and refunds that are under way go on.'
            : 'It is offered again within 5 seconds, and its failures are forgotten.',
        button: verb === 'pause' ? 'Pause the rail' : 'Resume the rail',
        isOffered: ({ isPaused, failures }) => (verb === 'pause' ? !isPaused : isPaused || failures > 0),
      }),
      run: async ({ operations, context, params, input }) =>
        toAnswer(await operations.rails[`${verb}Rail`](context, params.railId, input.reason)),
      tell: ({ name: called }) => ({
        text:
          verb === 'pause'
            ? `${called} is not offered any more. What is under way goes on.`
            : `${called} is offered again.`,
      }),
    }),
  ),
  defineAction({
    name: 'rail.rotate-secret',
    scope: 'rails:manage',
    summary: 'Create a new secret. The previous one stays valid until the next rotation',
    params: railKey,
    input: object('How.', {
      endOthers: displayed(yesNo('End every earlier secret now: for one that was stolen.'), {
        initial: 'false',
        choices: [
          ['false', 'the one before stays good'],
          ['true', 'end every earlier secret now'],
        ],
        label: 'Earlier secrets',
      }),
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
        'Messages are signed with the new secret and the one before, and notifications are taken with either, until you rotate again.',
      button: 'Make a new secret',
      isOffered: ({ account }) => !account,
      wantsProof: true,
    }),
    async run({ operations, context, params, input: { endOthers, reason: why }, actId, prove }) {
      await prove?.()
      const made = await operations.rails.rotateSecret(context, params.railId, {
        endsOthers: endOthers,
        reason: why,
        actId,
      })
      return { railId: params.railId, secret: made.secret }
    },
    tell: ({ railId: id, secret: told }, { input }) => ({
      text: `The new secret of ${id} is below. ${input.endOthers ? 'Every earlier one has ended.' : 'The one before stays good until the next rotation.'}`,
      secrets: [['secret', told]],
      page: `/rails/${id}`,
    }),
  }),
  defineAction({
    name: 'rail.return-late-money',
    apiPath: '/late-money/:merchantId/:transactionId/return',
    scope: 'money:move',
    summary: 'Return held late money through its rail',
    params: object('Which attempt.', { merchantId, transactionId }),
    input: object('Why.', { reason }),
    answer: object('The attempt.', { transactionId, railId, returnId: transactionId }),
    forms: [
      form<Attempt>({
        place: 'attempt',
        path: '/orders/:merchantId/:paymentId/late-money/:transactionId/return',
        page: '/orders/:merchantId/:paymentId',
        label: 'Send it back…',
        explains:
          'The money leaves suspense when the rail has taken it back. If it does not, it is held again.',
        button: 'Send it back',
        isDangerous: true,
        isOffered: ({ status }) => status === 'held',
      }),
    ],
    async run({ operations, context, params, input }) {
      const returned = await operations.returnLateMoney(context, params, input.reason)
      const { transactionId: id, railId: rail, returnId = '' } = returned
      return { transactionId: id, railId: rail, returnId }
    },
    tell: ({ railId: rail }) => ({ text: `The money goes back through ${rail}.` }),
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
} as const satisfies Record<keyof typeof extras, Partial<RailSettings>>
export const noExtras = {
  ...defaults.names,
  ...defaults.least,
  ...defaults.most,
  ...defaults.merchants,
  ...defaults.position,
  ...defaults.logo,
}

interface Given extends Partial<Pick<RailSettings, 'merchants' | 'position' | 'logo'>> {
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
        throw new Failure('invalid_field', { field, message: `There is no currency ${code}.` })
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
