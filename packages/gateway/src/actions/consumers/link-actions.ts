// Payment links: create, list, pause, resume and close.
import {
  defaultLinkPaymentMinutes,
  digitsOf,
  isCurrencyCode,
  linkIdPattern,
  linkStates,
  linkUses,
  readLinkAmounts,
  toDecimalText,
} from '@tillgate/protocol'
import type { LinkVerb, ShownLink } from '../../finance/links/manage-links.ts'
import type { LinkTotals, PaymentLink } from '../../finance/links/rules/link.ts'
import { type Action, defineAction, defineSharedAction, form } from '../action.ts'
import {
  amount,
  count,
  described,
  displayed,
  integer,
  list,
  matching,
  object,
  oneOf,
  optional,
  parseMoment,
  text,
  timeMs,
  visibleCharacters,
} from '../fields.ts'
import {
  byMerchant,
  currency,
  limit,
  merchantId,
  nextPage,
  pageOf,
  paymentId,
  reason,
  shownUrl,
} from '../shared-fields.ts'

const linkId = matching('The link’s ID.', {
  regexp: linkIdPattern,
  expected: 'a linkId, such as `L01K73ZQ800JZ7V3N4Q5R6S7T8W`',
})
const key = object('Which link.', { merchantId, linkId })
const ofMerchant = object('Whose link.', { merchantId })
const url = (description: string) =>
  optional(displayed(text(description, { max: 2048 }), { shown: shownUrl }))
const given = {
  linkNo: displayed(text('The merchant’s own number for the link. Unique per merchant.', { max: 64 }), {
    placeholder: 'invoice-17',
  }),
  title: displayed(
    text('What the payment is for, as shown to the consumer.', { max: 256, pattern: visibleCharacters }),
    {
      placeholder: 'Invoice 17',
    },
  ),
  currency,
  amount: optional(
    displayed(amount('The fixed amount. If omitted, the consumer enters one.'), {
      placeholder: '12.50',
    }),
  ),
  leastAmount: optional(amount('The minimum that the consumer may enter.')),
  mostAmount: optional(amount('The maximum that the consumer may enter.')),
  uses: displayed(oneOf('once: a single payment.', linkUses), {
    initial: 'many',
    choices: [
      ['many', 'unlimited payments'],
      ['once', 'one payment'],
    ],
  }),
  expiresAtMs: optional(
    displayed(timeMs('No payment can start after this time.'), {
      label: 'Expiry date (optional)',
      option: 'ends',
      kind: 'day',
      placeholder: '2026-12-31',
      fromText: dayOrTime,
      hint: 'No payment can start after this time. A date or a time.',
    }),
  ),
  paymentMinutes: optional(
    integer(`Minutes that a consumer has to complete a payment; ${defaultLinkPaymentMinutes} by default.`, {
      min: 5,
      max: 1440,
    }),
  ),
  callbackUrl: url('Callback URL of the link’s orders; without one, no callbacks are sent.'),
  redirectUrl: url('Where the consumer returns after the payment.'),
}
const link = {
  ...given,
  merchantId,
  linkId,
  linkUrl: text('The page for consumers. Append /qr.svg or /qr.png for a QR code.', { max: 2048 }),
  status: oneOf('Its current state.', linkStates),
  paidCount: count('Number of successful payments.'),
  paid: amount('The sum of these payments.'),
  refunded: amount('Total refunded.'),
  createdAtMs: timeMs('Time of creation.'),
}
const {
  paidCount: _count,
  paid: _paid,
  refunded: _refunded,
  status: _status,
  linkUrl: _url,
  ...stored
} = link
const page = '/links/:merchantId/:linkId'
/** The member roles. */
const linkRoles = ['owner', 'finance'] as const

const checks: Action['checks'] = {
  currency: ({ currency: code }) => void digitsOf(String(code)),
  amount: checkAmounts,
  leastAmount: checkAmounts,
  mostAmount: checkAmounts,
}

const words = {
  pause: {
    summary: 'Pause a payment link',
    explains:
      'The page shows that no payments are accepted for now. A payment that has started can still be completed.',
    done: 'paused: no payment can start until it is resumed',
  },
  resume: {
    summary: 'Resume a payment link',
    explains: 'The page accepts payments again.',
    done: 'active again',
  },
  close: {
    summary: 'Close a payment link permanently',
    explains:
      'No payment can start, and the link cannot be reopened. A payment that has started can still be completed.',
    done: 'closed permanently',
  },
} as const satisfies Record<LinkVerb, { summary: string; explains: string; done: string }>

export const linkActions: readonly Action[] = [
  defineAction({
    name: 'link.list',
    scope: 'links:read',
    summary: 'List payment links, newest first',
    input: object('Which links.', {
      merchantId: optional(displayed(merchantId, { option: 'merchant' })),
      before: optional(described('Only links older than this one.', linkId)),
      limit,
    }),
    answer: object('A page.', {
      links: list(
        'Newest first.',
        object('A link.', {
          ...stored,
          merchantName: text('The merchant’s name.', { max: 256 }),
          status: oneOf('The configured status. Expiry and payments do not change it.', [
            'active',
            'paused',
            'closed',
          ]),
        }),
      ),
      older: optional(text(nextPage, { max: 32 })),
    }),
    command: { columns: ['linkId', 'merchantName', 'title', 'uses', 'status'] },
    async run({ operations, context, input }) {
      const found = await pageOf('links', input, {
        read: (at) => operations.links.listLinks(context, { ...at, merchantId: input.merchantId }),
        keyOf: (each) => each.linkId,
      })
      return { ...found, links: found.links.map((each) => ({ ...each, ...writtenAmounts(each) })) }
    },
  }),
  defineAction({
    name: 'link.show',
    scope: 'links:read',
    summary: 'Show a payment link with its payments',
    params: key,
    answer: object('A link.', {
      ...link,
      orders: list(
        'The newest 100, newest first.',
        object('An order.', {
          paymentId,
          orderNo: text('Starts with the linkId.', { max: 64 }),
          status: text('The order’s status.', { max: 16 }),
          amount: amount('The requested amount.'),
          createdAtMs: timeMs('When the order was created.'),
        }),
      ),
    }),
    command: { columns: ['paymentId', 'status', 'amount', 'createdAtMs'] },
    async run({ operations, context, params }) {
      const shown = await operations.links.showLink(context, params)
      const { currency: code } = shown.link
      return {
        ...toAnswer(shown),
        orders: shown.orders.map((order) => ({
          ...order,
          amount: toDecimalText(order.paymentAmountMinor, code),
        })),
      }
    },
  }),
  defineSharedAction({
    name: 'link.create',
    scope: 'links:act',
    summary: 'Create a payment link for a merchant',
    params: ofMerchant,
    input: object('The link.', { ...given, reason }),
    checks,
    answer: object('The link.', link),
    form: {
      place: 'merchant',
      path: '/merchants/:merchantId/links',
      page: '/merchants/:merchantId',
      label: 'Create a payment link…',
      explains:
        'A payment page with a QR code. Anyone with its URL can pay, and each payment creates an order for this merchant.',
      button: 'Create link',
    },
    portal: [
      {
        roles: linkRoles,
        name: 'newLink',
        path: '/links/new',
        page: '/links',
        after: '/links/:linkId',
        fields: ['title', 'currency', 'amount', 'leastAmount', 'mostAmount', 'uses', 'expiresAtMs'],
        hidden: ['linkNo'],
        fixed: { reason: byMerchant },
      },
    ],
    async run({ operations, context, params, input }) {
      const { reason: why, amount: fixed, leastAmount, mostAmount, ...rest } = input
      const amounts = readLinkAmounts({ amount: fixed, leastAmount, mostAmount }, input.currency)
      const { paymentMinutes = defaultLinkPaymentMinutes } = rest
      const made = await operations.links.createLink(
        context,
        params.merchantId,
        { ...rest, ...amounts, paymentMinutes, goods: [] },
        why,
      )
      return toAnswer(made)
    },
    reply: ({ merchantId: of, linkId: id, linkUrl }) => ({
      text: `The payment link was created: ${linkUrl}`,
      page: `/links/${of}/${id}`,
    }),
  }),
  ...(['pause', 'resume', 'close'] as const).map((verb) =>
    defineSharedAction({
      name: `link.${verb}`,
      scope: 'links:act',
      summary: words[verb].summary,
      params: key,
      input: object('The reason.', { reason }),
      answer: object('The link.', link),
      form: form<PaymentLink>({
        place: 'link',
        page,
        label: `${verb.charAt(0).toUpperCase()}${verb.slice(1)}…`,
        explains: words[verb].explains,
        button: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} the link`,
        ...(verb === 'close' && { isDangerous: true }),
        isOffered: ({ status }) =>
          verb === 'close' ? status !== 'closed' : status === (verb === 'pause' ? 'active' : 'paused'),
      }),
      portal: [
        {
          roles: linkRoles,
          name: `${verb}Link`,
          page: '/links/:linkId',
          fields: [],
          fixed: { reason: byMerchant },
          ...(verb === 'close' && { isDangerous: true }),
        },
      ],
      run: async ({ operations, context, params, input }) =>
        toAnswer(await operations.links.changeLink(context, verb, params, input.reason)),
      reply: ({ title }) => ({ text: `${title} is ${words[verb].done}.` }),
    }),
  ),
]

function checkAmounts(input: Readonly<Record<string, unknown>>): void {
  const { currency: code } = input
  if (!isCurrencyCode(String(code))) return
  // Safe: the schema makes them strings.
  readLinkAmounts(input as Parameters<typeof readLinkAmounts>[0], String(code))
}

/** A day ends where the next begins, in UTC. */
function dayOrTime(written: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(written)
  const atMs = isDay ? parseMoment(written) + 86_400_000 : parseMoment(written)
  return Number.isNaN(atMs) ? written : String(atMs)
}

export function writtenAmounts({ currency: code, amountMinor, leastMinor, mostMinor }: PaymentLink) {
  const written = (minor: bigint | undefined) =>
    minor === undefined ? undefined : toDecimalText(minor, code)
  return { amount: written(amountMinor), leastAmount: written(leastMinor), mostAmount: written(mostMinor) }
}

function writtenTotals({ paidCount, paidMinor, refundedMinor }: LinkTotals, code: string) {
  return { paidCount, paid: toDecimalText(paidMinor, code), refunded: toDecimalText(refundedMinor, code) }
}

function toAnswer({ link: shown, state, linkUrl, totals }: ShownLink) {
  return {
    ...shown,
    ...writtenAmounts(shown),
    ...writtenTotals(totals, shown.currency),
    linkUrl,
    status: state,
  }
}
