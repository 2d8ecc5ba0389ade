// Every kind of notice, as data: who hears it, whether its reader may switch it off, and what its text has gaps for. The
// texts are in locales/emails and locales/operator-emails; docs/notices.md is made from here.

/** `person`: one address that the cause names. The others are looked up when the notice is sent. */
export type Audience = 'person' | 'merchant' | 'operators'

interface Kind {
  readonly audience: Audience
  readonly tells: string
  /** Its reader may switch it off. */
  readonly isOptional: boolean
  /** What the text has gaps for. */
  readonly gaps: readonly string[]
  /** Carries a one-time link, sealed until it is sent. */
  readonly hasLink?: true
  /** What is sealed is a code to type, no address to open. */
  readonly isCode?: true
  /** Told to a consumer: the address goes when the notice ends, for it was given for this one. */
  readonly forgetsAddress?: true
}

export const noticeKinds = {
  'member-invitation': {
    audience: 'person',
    tells: 'Somebody is invited to a merchant’s portal',
    isOptional: false,
    gaps: ['merchant', 'inviter', 'until'],
    hasLink: true,
  },
  'member-recovery': {
    audience: 'person',
    tells: 'A member asked for a new password',
    isOptional: false,
    gaps: ['until'],
    hasLink: true,
  },
  'application-question': {
    audience: 'person',
    tells: 'An operator asks an applicant for live keys something',
    isOptional: false,
    gaps: ['business', 'question'],
  },
  'application-rejected': {
    audience: 'person',
    tells: 'An application for live keys was rejected; an approved one brings the invitation',
    isOptional: false,
    gaps: ['business', 'reason'],
  },
  receipt: {
    audience: 'person',
    tells: 'A consumer asked for a receipt on the payment page',
    isOptional: false,
    gaps: ['merchant', 'amount', 'time', 'orderNo', 'paymentId'],
    forgetsAddress: true,
  },
  'registration-code': {
    audience: 'person',
    tells: 'Somebody wants a wallet with this address: the code that proves it to be theirs',
    isOptional: false,
    gaps: [],
    hasLink: true,
    isCode: true,
    forgetsAddress: true,
  },
  'wallet-exists': {
    audience: 'person',
    tells: 'Somebody wants a wallet with an address that has one',
    isOptional: false,
    gaps: [],
    forgetsAddress: true,
  },
  'pin-code': {
    audience: 'person',
    tells: 'A consumer forgot the PIN: the code for a new one',
    isOptional: false,
    gaps: [],
    hasLink: true,
    isCode: true,
    forgetsAddress: true,
  },
  'pin-changed': {
    audience: 'person',
    tells: 'The PIN of a wallet was changed',
    isOptional: false,
    gaps: [],
    forgetsAddress: true,
  },
  'new-device': {
    audience: 'person',
    tells: 'Somebody signed in to a wallet on a device that it does not know',
    isOptional: false,
    gaps: ['device', 'time'],
    forgetsAddress: true,
  },
  'refund-arrived': {
    audience: 'person',
    tells: 'A refund is in the wallet that paid',
    isOptional: true,
    gaps: ['amount', 'merchant', 'orderNo'],
    forgetsAddress: true,
  },
  'withdrawal-returned': {
    audience: 'person',
    tells: 'A withdrawal came back, or was not carried out; the money is in the wallet again',
    isOptional: false,
    gaps: ['amount', 'reason'],
    forgetsAddress: true,
  },
  'key-added': {
    audience: 'merchant',
    tells: 'A key was added to the merchant',
    isOptional: false,
    gaps: ['merchant', 'key', 'time'],
  },
  'bank-account-changed': {
    audience: 'merchant',
    tells: 'The merchant’s payouts in a currency are to go to another bank account',
    isOptional: false,
    gaps: ['merchant', 'currency', 'account', 'time'],
  },
  'payout-paid': {
    audience: 'merchant',
    tells: 'The bank has paid a payout out',
    isOptional: true,
    gaps: ['merchant', 'amount', 'payoutId'],
  },
  'payout-returned': {
    audience: 'merchant',
    tells: 'The bank sent a payout back; the money is in the merchant’s wallet again',
    isOptional: true,
    gaps: ['merchant', 'amount', 'payoutId', 'reason'],
  },
  'callback-host-failing': {
    audience: 'merchant',
    tells: 'Callbacks to one of the merchant’s hosts have failed for ten minutes; once a day and host',
    isOptional: true,
    gaps: ['merchant', 'host', 'since', 'reason'],
  },
  'callbacks-exhausted': {
    audience: 'merchant',
    tells: 'A callback was given up; once a day',
    isOptional: true,
    gaps: ['merchant', 'event', 'paymentId', 'host'],
  },
  'rail-alert': {
    audience: 'operators',
    tells: 'Money came late through a rail, could not be sent back, or was taken back',
    isOptional: false,
    gaps: ['rail', 'paymentId', 'amount', 'happened'],
  },
  'rail-paused': {
    audience: 'operators',
    tells: 'A rail fails and has left the checkout; once a day',
    isOptional: true,
    gaps: ['rail', 'failure', 'until'],
  },
  'breaks-found': {
    audience: 'operators',
    tells: 'Statements and books do not agree somewhere',
    isOptional: true,
    gaps: ['account', 'count', 'largest'],
  },
  'approval-waiting': {
    audience: 'operators',
    tells: 'An act waits for a second operator',
    isOptional: true,
    gaps: ['act', 'requestedBy', 'reason', 'until'],
  },
} as const satisfies Record<string, Kind>

export type NoticeKind = keyof typeof noticeKinds

/** What the cause gives. The name of a merchant that hears it is filled in with its readers. */
export type NoticeParameters<K extends NoticeKind> = Readonly<
  Record<Exclude<(typeof noticeKinds)[K]['gaps'][number], MerchantsName<K>>, string>
>
type MerchantsName<K extends NoticeKind> = (typeof noticeKinds)[K]['audience'] extends 'merchant'
  ? 'merchant'
  : never

type KindsFor<A extends Audience> = {
  [K in NoticeKind]: (typeof noticeKinds)[K]['audience'] extends A ? K : never
}[NoticeKind]

/** Operators read English, as their console is written. */
export type OperatorKind = KindsFor<'operators'>

/** Of those that a consumer hears. */
export const consumerKinds: readonly NoticeKind[] = (Object.keys(noticeKinds) as NoticeKind[]).filter(
  (kind) => kindOf(kind).forgetsAddress,
)

export function isNoticeKind(text: string): text is NoticeKind {
  return Object.hasOwn(noticeKinds, text)
}

export function kindOf(kind: NoticeKind): Kind {
  return noticeKinds[kind]
}
