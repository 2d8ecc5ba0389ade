// Every kind of email, as data: its recipients, whether they can turn it off, and the parameters of its text. The texts are
// in locales/emails and locales/operator-emails; docs/email.md is generated from this file.

/** `person`: one address that the cause names. The other recipients are looked up when the email is sent. */
export type Audience = 'person' | 'merchant' | 'operators'

interface Kind {
  readonly audience: Audience
  readonly sentWhen: string
  readonly isOptional: boolean
  readonly gaps: readonly string[]
  /** Carries a one-time link, sealed until it is sent. */
  readonly hasLink?: true
  /** The sealed part is a code to enter, not a link. */
  readonly isCode?: true
  /** The address is erased when the email ends, because the consumer gave it for this email only. */
  readonly forgetsAddress?: true
}

export const emailKinds = {
  'member-invitation': {
    audience: 'person',
    sentWhen: 'A person is invited to the portal',
    isOptional: false,
    gaps: ['merchant', 'inviter', 'until'],
    hasLink: true,
  },
  'member-recovery': {
    audience: 'person',
    sentWhen: 'A member requested a new password',
    isOptional: false,
    gaps: ['until'],
    hasLink: true,
  },
  'application-question': {
    audience: 'person',
    sentWhen: 'An operator asked an applicant a question',
    isOptional: false,
    gaps: ['business', 'question'],
  },
  'application-rejected': {
    audience: 'person',
    sentWhen: 'An application was rejected; after approval, the invitation is sent instead',
    isOptional: false,
    gaps: ['business', 'reason'],
  },
  receipt: {
    audience: 'person',
    sentWhen: 'A consumer requested a receipt at the checkout',
    isOptional: false,
    gaps: ['merchant', 'amount', 'time', 'orderNo', 'paymentId'],
    forgetsAddress: true,
  },
  'registration-code': {
    audience: 'person',
    sentWhen: 'A wallet is registered with this address; has the code',
    isOptional: false,
    gaps: [],
    hasLink: true,
    isCode: true,
    forgetsAddress: true,
  },
  'wallet-exists': {
    audience: 'person',
    sentWhen: 'A wallet is registered with an address that already has one',
    isOptional: false,
    gaps: [],
    forgetsAddress: true,
  },
  'pin-code': {
    audience: 'person',
    sentWhen: 'A consumer forgot the PIN; has the code',
    isOptional: false,
    gaps: [],
    hasLink: true,
    isCode: true,
    forgetsAddress: true,
  },
  'pin-changed': {
    audience: 'person',
    sentWhen: 'The PIN of a wallet was changed',
    isOptional: false,
    gaps: [],
    forgetsAddress: true,
  },
  'new-device': {
    audience: 'person',
    sentWhen: 'A new device signed in to a wallet',
    isOptional: false,
    gaps: ['device', 'time'],
    forgetsAddress: true,
  },
  'refund-arrived': {
    audience: 'person',
    sentWhen: 'A refund was credited to the wallet',
    isOptional: true,
    gaps: ['amount', 'merchant', 'orderNo'],
    forgetsAddress: true,
  },
  'withdrawal-returned': {
    audience: 'person',
    sentWhen: 'A withdrawal was returned or cancelled; the money is in the wallet again',
    isOptional: false,
    gaps: ['amount', 'reason'],
    forgetsAddress: true,
  },
  'key-added': {
    audience: 'merchant',
    sentWhen: 'A key was added to a merchant',
    isOptional: false,
    gaps: ['merchant', 'key', 'time'],
  },
  'bank-account-changed': {
    audience: 'merchant',
    sentWhen: 'The bank account for a merchant’s payouts was changed',
    isOptional: false,
    gaps: ['merchant', 'currency', 'account', 'time'],
  },
  'payout-paid': {
    audience: 'merchant',
    sentWhen: 'A payout was paid',
    isOptional: true,
    gaps: ['merchant', 'amount', 'payoutId'],
  },
  'payout-returned': {
    audience: 'merchant',
    sentWhen: 'A payout was returned; the money is back in the merchant’s balance',
    isOptional: true,
    gaps: ['merchant', 'amount', 'payoutId', 'reason'],
  },
  'dispute-opened': {
    audience: 'merchant',
    sentWhen: 'A consumer’s bank took a payment back; has the deadline for a response',
    isOptional: true,
    gaps: ['merchant', 'amount', 'orderNo', 'until'],
  },
  'dispute-won': {
    audience: 'merchant',
    sentWhen: 'A dispute was won',
    isOptional: true,
    gaps: ['merchant', 'amount', 'orderNo'],
  },
  'dispute-lost': {
    audience: 'merchant',
    sentWhen: 'A dispute was lost',
    isOptional: true,
    gaps: ['merchant', 'amount', 'orderNo'],
  },
  'callback-host-failing': {
    audience: 'merchant',
    sentWhen: 'Callbacks to a host have failed for ten minutes; at most once a day for each host',
    isOptional: true,
    gaps: ['merchant', 'host', 'since', 'reason'],
  },
  'callbacks-exhausted': {
    audience: 'merchant',
    sentWhen: 'The retries of a callback are used up; at most once a day',
    isOptional: true,
    gaps: ['merchant', 'event', 'paymentId', 'host'],
  },
  'rail-alert': {
    audience: 'operators',
    sentWhen: 'Money arrived late through a rail, could not be returned, or was taken back',
    isOptional: false,
    gaps: ['rail', 'paymentId', 'amount', 'happened'],
  },
  'rail-paused': {
    audience: 'operators',
    sentWhen: 'A failing rail was removed from the checkout; at most once a day',
    isOptional: true,
    gaps: ['rail', 'failure', 'until'],
  },
  'breaks-found': {
    audience: 'operators',
    sentWhen: 'Reconciliation found breaks',
    isOptional: true,
    gaps: ['account', 'count', 'largest'],
  },
  'approval-waiting': {
    audience: 'operators',
    sentWhen: 'An action waits for a second operator',
    isOptional: true,
    gaps: ['act', 'requestedBy', 'reason', 'until'],
  },
} as const satisfies Record<string, Kind>

export type EmailKind = keyof typeof emailKinds

/** The parameters that the cause provides. A merchant's name is filled in with its recipients. */
export type EmailParameters<K extends EmailKind> = Readonly<
  Record<Exclude<(typeof emailKinds)[K]['gaps'][number], MerchantsName<K>>, string>
>
type MerchantsName<K extends EmailKind> = (typeof emailKinds)[K]['audience'] extends 'merchant'
  ? 'merchant'
  : never

type KindsFor<A extends Audience> = {
  [K in EmailKind]: (typeof emailKinds)[K]['audience'] extends A ? K : never
}[EmailKind]

/** Operators' emails are in English, like the console. */
export type OperatorKind = KindsFor<'operators'>

export const consumerKinds: readonly EmailKind[] = (Object.keys(emailKinds) as EmailKind[]).filter(
  (kind) => kindOf(kind).forgetsAddress,
)

export function isEmailKind(text: string): text is EmailKind {
  return Object.hasOwn(emailKinds, text)
}

export function kindOf(kind: EmailKind): Kind {
  return emailKinds[kind]
}
