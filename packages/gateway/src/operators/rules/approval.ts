// Acts that want a second person, on money and on what a merchant is known by: which ones do, who may decide about
// them, and until when.
import { Failure, toDecimalText } from '@tillgate/protocol'
import type { MemberRole } from '../../members/rules/member.ts'
import type { CheckedKey } from '../../merchants/rules/merchant.ts'
import { describeBankDetails } from '../../payouts/rules/bank-account.ts'
import { type BankEntry, describeEntry } from '../../rails/rules/bank-transfer.ts'
import { type BankDetails, describeOutside, type Outside } from '../../treasury/rules/bank-account.ts'
import { type Correction, describeCorrection } from '../../treasury/rules/correction.ts'
import { mayAct, type Operator, type Role } from './operator.ts'

export type MoneyAct = { readonly currency: string; readonly amountMinor: bigint } & (
  | {
      readonly kind: 'order.refund'
      readonly merchantId: string
      readonly paymentId: string
      readonly referRefundNo: string
    }
  | { readonly kind: 'merchant.payout'; readonly merchantId: string; readonly outside?: Outside | undefined }
  | { readonly kind: 'wallet.top-up'; readonly walletId: string; readonly outside?: Outside | undefined }
  | { readonly kind: 'correction'; readonly correction: Correction }
  | {
      readonly kind: 'transfer.confirm'
      readonly merchantId: string
      readonly paymentId: string
      readonly railId: string
      readonly entry: BankEntry
    }
)

/**
 * Whoever holds a merchant's keys refunds as that merchant, whoever names its hosts reads its callbacks, and whoever is its
 * member does both in the portal.
 */
export type MerchantAct = { readonly merchantId: string } & (
  | { readonly kind: 'key.add'; readonly key: CheckedKey }
  | { readonly kind: 'merchant.callback-hosts'; readonly callbackHosts: readonly string[] | undefined }
  | { readonly kind: 'merchant.bank-account'; readonly account: BankDetails & { readonly currency: string } }
  | MemberAct
)

/** Of an operator; what a merchant's own owners do with its members asks nobody. */
type MemberAct = { readonly login: string } & (
  | { readonly kind: 'member.invite' | 'member.change-role'; readonly role: MemberRole }
  | { readonly kind: 'member.recover' | 'member.reset-totp' }
)

export type ApprovableAct = MoneyAct | MerchantAct

/** Whoever may do it by themselves may also approve it. */
export const approverRoles = {
  'order.refund': 'operator',
  'merchant.payout': 'admin',
  'wallet.top-up': 'admin',
  correction: 'admin',
  'transfer.confirm': 'admin',
  'key.add': 'admin',
  'merchant.callback-hosts': 'admin',
  'merchant.bank-account': 'admin',
  'member.invite': 'admin',
  'member.change-role': 'admin',
  'member.recover': 'admin',
  'member.reset-totp': 'admin',
} as const satisfies Record<ApprovableAct['kind'], Role>

export const approvalStatuses = ['waiting', 'approved', 'rejected', 'withdrawn', 'expired'] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

export interface ApprovalRequest {
  readonly approvalId: string
  readonly act: ApprovableAct
  readonly reason: string
  /** The operator's login. */
  readonly requestedBy: string
  /** Who and from where, as in the audit. */
  readonly requestedAs: string
  readonly requestedAtMs: number
  readonly expiresAtMs: number
  readonly status: ApprovalStatus
  readonly decidedBy: string | undefined
  readonly decidedAs: string | undefined
  readonly decidedAtMs: number | undefined
  readonly decisionReason: string | undefined
}

/** The yes of the second operator. It travels with the act that it allows and is recorded in its transaction. */
export interface Approval {
  readonly approvalId: string
  readonly auditId: string
  readonly decidedBy: string
  readonly decidedAs: string
  readonly decidedAtMs: number
  readonly reason: string
}

export interface ApprovalPolicy {
  /** How much of an order may be refunded in all without a second operator, by currency; undefined: any amount. */
  readonly refundLimits: ReadonlyMap<string, bigint> | undefined
  readonly kinds: readonly Exclude<ApprovableAct['kind'], 'order.refund'>[]
  readonly lifeMs: number
}

/** Undefined: any amount. A currency that the setting does not name has no allowance: better asked than missed. */
export function refundLimitMinor({ refundLimits }: ApprovalPolicy, currency: string): bigint | undefined {
  return refundLimits && (refundLimits.get(currency) ?? 0n)
}

export function isApprovalInUse({ refundLimits, kinds }: ApprovalPolicy): boolean {
  return refundLimits !== undefined || kinds.length > 0
}

/** As people say it. */
export function describeAct(act: ApprovableAct): string {
  switch (act.kind) {
    case 'order.refund':
      return `refund ${amountOf(act)} of order ${act.paymentId}`
    case 'merchant.payout':
      return `pay ${amountOf(act)} out to merchant ${act.merchantId}${act.outside ? describeOutside(act.outside) : ''}`
    case 'wallet.top-up':
      return `top up wallet ${act.walletId} by ${amountOf(act)}${act.outside ? describeOutside(act.outside) : ''}`
    case 'correction':
      return describeCorrection(act.correction)
    case 'transfer.confirm':
      return `record that ${amountOf(act)} came by ${act.railId} for order ${act.paymentId}${describeEntry(act.entry)}`
    case 'merchant.bank-account':
      return `let payouts in ${act.account.currency} of merchant ${act.merchantId} go to ${describeBankDetails(act.account)}`
    case 'key.add':
      return `give merchant ${act.merchantId} ${describeKey(act.key)}`
    case 'merchant.callback-hosts':
      return `let callbacks of merchant ${act.merchantId} go to ${act.callbackHosts?.join(', ') ?? 'any host'}`
    case 'member.invite':
      return `invite ${act.login} to merchant ${act.merchantId} as ${act.role}`
    case 'member.change-role':
      return `make ${act.login} ${act.role} of merchant ${act.merchantId}`
    case 'member.recover':
      return `make a link to a new password for ${act.login}, member of merchant ${act.merchantId}`
    case 'member.reset-totp':
      return `take the second step away from ${act.login}, member of merchant ${act.merchantId}`
  }
}

/** A public key by its fingerprint, which the merchant can compare with its own. */
export function describeKey(key: CheckedKey): string {
  return key.kind === 'aes' ? 'a new AES key' : `the RSA key of SHA-256 ${key.fingerprint}`
}

function amountOf({ amountMinor, currency }: MoneyAct): string {
  return `${toDecimalText(amountMinor, currency)} ${currency}`
}

export function isSameAct(a: ApprovableAct, b: ApprovableAct): boolean {
  return describeAct(a) === describeAct(b) && referRefundNoOf(a) === referRefundNoOf(b)
}

export function referRefundNoOf(act: ApprovableAct): string | undefined {
  return act.kind === 'order.refund' ? act.referRefundNo : undefined
}

export function merchantIdOf(act: ApprovableAct): string | undefined {
  if (act.kind === 'wallet.top-up') return undefined
  if (act.kind !== 'correction') return act.merchantId
  return 'merchantId' in act.correction ? act.correction.merchantId || undefined : undefined
}

/** As it is now: what nobody decided in time has expired, whether or not somebody has ended it. */
export function asOf(request: ApprovalRequest, nowMs: number): ApprovalRequest {
  const isDue = request.status === 'waiting' && request.expiresAtMs <= nowMs
  return isDue ? { ...request, status: 'expired' } : request
}

export type Decision = 'approve' | 'reject' | 'withdraw'

/** Throws where this operator may not decide so, now. */
export function checkDecision(
  decision: Decision,
  request: ApprovalRequest,
  { by, nowMs }: { by: Pick<Operator, 'login' | 'role'>; nowMs: number },
): void {
  const { status, decidedBy } = asOf(request, nowMs)
  if (status !== 'waiting') throw notWaiting(status, decidedBy)
  const needed = approverRoles[request.act.kind]
  if (!mayAct(by.role, needed))
    throw new Failure('not_allowed', {
      message: `This needs the role ${needed}; yours is ${by.role}.`,
    })
  const isOwn = by.login === request.requestedBy
  if (isOwn && decision !== 'withdraw')
    throw new Failure('not_allowed', {
      message: 'This is your own request: another operator must decide about it. You can withdraw it.',
    })
  if (!isOwn && decision === 'withdraw')
    throw new Failure('not_allowed', { message: 'Only whoever asked can withdraw. You can reject it.' })
}

/** Throws where whoever asked could not ask any more. */
export function checkAsker(
  { act, requestedBy }: ApprovalRequest,
  asker: Pick<Operator, 'status' | 'role'> | undefined,
): void {
  const refuse = (why: string) =>
    new Failure('status_does_not_allow', {
      message: `${why}. Reject it; whoever still wants it can ask anew.`,
    })
  if (asker?.status !== 'active') throw refuse(`${requestedBy}, who asked, is disabled`)
  const needed = approverRoles[act.kind]
  if (!mayAct(asker.role, needed))
    throw refuse(`This needs the role ${needed}; ${requestedBy}, who asked, is ${asker.role} by now`)
}

export function notWaiting(
  status: Exclude<ApprovalStatus, 'waiting'> | 'decided',
  decidedBy?: string,
): Failure {
  const by = decidedBy === undefined ? '' : ` by ${decidedBy}`
  return new Failure('status_does_not_allow', {
    message: `The request does not wait any more: it was ${status === 'expired' ? 'too old and has expired' : `${status}${by}`}.`,
  })
}
