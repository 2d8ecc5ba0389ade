// The effects of each audited action on money, from a closed list. The approval policy names effects, so that a
// second way to the same effect needs the same approval. A missing action does not compile.

/** Each effect with the `APPROVAL_FOR` word that covers it. */
export const effects = {
  'credits a merchant': 'money-in',
  'credits a wallet': 'money-in',
  'credits the operator': 'money-in',
  'sends money out': 'money-out',
  'names where money goes': 'destination',
  'gives access to money': 'access',
  'makes a second operator': 'access',
} as const

/** Always guarded, because a person who can create the approving operator needs no second person at all. */
export const alwaysGuarded: Effect = 'makes a second operator'

export type Effect = keyof typeof effects
export type ApprovalWord = (typeof effects)[Effect]

/** Words of earlier versions. */
const aliases: Readonly<Record<string, readonly ApprovalWord[]>> = {
  payout: ['money-out'],
  'top-up': ['money-in'],
  correction: ['money-in', 'money-out'],
  transfer: ['money-in'],
  'bank-account': ['destination'],
  key: ['access'],
  'callback-hosts': ['access'],
  member: ['access'],
}

export const approvalWords: readonly ApprovalWord[] = ['money-in', 'money-out', 'destination', 'access']
export const approvalAliases: readonly string[] = Object.keys(aliases)

export function approvalWordsFor(word: string): readonly ApprovalWord[] | undefined {
  const own = approvalWords.find((each) => each === word)
  return own ? [own] : aliases[word]
}

/**
 * An operation may narrow the effects of its entry (a rail's new name does not change a destination), but never widen
 * them.
 */
export const effectsOfActions = {
  ...none(
    'application.approve',
    'application.ask',
    'application.reject',
    'approval.approve',
    'approval.expire',
    'approval.reject',
    'approval.request',
    'approval.withdraw',
    'bank.close',
    'callback-host.pause',
    'callback-host.resume',
    'callback.resend',
    'endpoint.pause',
    'endpoint.remove',
    'endpoint.test',
    'key.in-use',
    'key.revoke',
    'key.use-for-callbacks',
    'link.close',
    'link.pause',
    'master-key.rotate',
    'member.add-passkey',
    'member.begin-second-step',
    'member.bind-identity',
    'member.change-name',
    'member.change-password',
    'member.join',
    'member.new-password',
    'member.remove',
    'member.remove-passkey',
    'member.sign-in',
    'member.sign-out-everywhere',
    'member.switch-off-second-step',
    'member.switch-on-second-step',
    'member.use-recovery-code',
    'member.withdraw-invitation',
    // Members can also set the logo alone. Changing the name beside it needs two people.
    'merchant.logo',
    'merchant.suspend',
    'email.retry',
    'operator.add-passkey',
    'operator.begin-second-step',
    'operator.bind-identity',
    'operator.change-name',
    'operator.change-password',
    'operator.disable',
    'operator.remove-passkey',
    // The identity provider decides on roles.
    'operator.role',
    'operator.sign-in',
    'operator.sign-out-everywhere',
    'operator.switch-off-second-step',
    'operator.switch-on-second-step',
    'operator.use-recovery-code',
    'order.cancel',
    'payout-run.paid',
    'payout.paid',
    'platform-key.retire',
    'platform-key.rotate',
    'rail.pause',
    'reconcile.accept',
    'reconcile.assign',
    'reconcile.breaks-found',
    'reconcile.close-day',
    // Booking the lines of a statement has its own entries.
    'reconcile.confirm',
    'reconcile.import',
    'reconcile.mapping',
    'reconcile.note',
    'reconcile.pair',
    'reconcile.write-off',
    'token.revoke',
    'wallet.add-passkey',
    'wallet.change-pin',
    'wallet.close',
    'wallet.export',
    'wallet.lock',
    'wallet.new-pin',
    'wallet.register',
    'wallet.remove-passkey',
    'wallet.sign-out-everywhere',
    'wallet.withdraw',
  ),
  'bank.add': ['names where money goes'],
  'bank.change': ['names where money goes'],
  'bank.deposit': ['credits the operator'],
  'bank.opening-balance': ['credits the operator'],
  'bank.sweep-fees': ['credits the operator', 'sends money out'],
  'bank.withdraw': ['sends money out'],
  'correction.difference': ['sends money out'],
  'correction.fund': ['credits a merchant'],
  'correction.release': ['credits a merchant', 'credits a wallet', 'sends money out'],
  'correction.reverse': ['credits a merchant', 'credits a wallet', 'sends money out'],
  'correction.withdraw': ['sends money out'],
  'correction.write-off': ['sends money out'],
  // The consumer keeps the money that the rail took back.
  'dispute.accept': ['sends money out'],
  // Evidence can be sent only once, so an operator who sides with the consumer can lose the dispute on purpose.
  'dispute.evidence': ['sends money out'],
  'endpoint.add': ['gives access to money'],
  'endpoint.change': ['gives access to money'],
  // An endpoint that an operator had paused receives events again.
  'endpoint.resume': ['gives access to money'],
  'endpoint.rotate-secret': ['gives access to money'],
  'key.add': ['gives access to money'],
  // A link can have its own callback URL and its own address to which consumers return after the payment.
  'link.create': ['gives access to money'],
  // A link that an operator had paused accepts payments again.
  'link.resume': ['gives access to money'],
  'member.change-role': ['gives access to money'],
  'member.invite': ['gives access to money'],
  'member.recover': ['gives access to money'],
  'member.reset-totp': ['gives access to money'],
  // The new merchant's key, callback URL and contacts stay valid, and payment links under the merchant's name accept
  // money at once.
  'merchant.add': ['names where money goes', 'gives access to money'],
  'merchant.bank-account': ['names where money goes'],
  // Payouts go to the old account again, although two people had replaced it.
  'merchant.stop-bank-account': ['names where money goes'],
  // Callback URLs, contacts, and the name that consumers see above the amount.
  'merchant.change': ['names where money goes', 'gives access to money'],
  'merchant.payout': ['sends money out'],
  // Resuming ends a suspension.
  'merchant.resume': ['gives access to money'],
  'operator.add': ['makes a second operator'],
  'operator.enable': ['makes a second operator'],
  'operator.reset-password': ['makes a second operator'],
  'operator.reset-totp': ['makes a second operator'],
  // The consumer authorized the payment, but not the time of the capture.
  'order.capture': ['credits a merchant'],
  'order.refund': ['sends money out'],
  // Like a refund, it returns money for goods that the merchant may have shipped.
  'order.release': ['sends money out'],
  'payout-plan.set': ['sends money out'],
  'payout-run.cancel': ['credits a merchant'],
  // For a withdrawal under review, and for payouts whose merchant was suspended, wallet locked, or bank account replaced
  // since then. Other payouts were approved when they were requested, or with their plan or run.
  'payout-run.send': ['sends money out'],
  'payout-run.start': ['sends money out'],
  'payout.cancel': ['credits a merchant'],
  'payout.return': ['credits a merchant'],
  // From then on, the fee may be anything from nothing to the whole payment.
  'price.end': ['credits the operator'],
  'price.set': ['credits the operator'],
  'rail.add': ['credits a merchant', 'credits a wallet', 'names where money goes'],
  'rail.add-transfer': ['names where money goes'],
  'rail.change': ['credits a merchant', 'credits a wallet', 'names where money goes'],
  'rail.change-account': ['names where money goes'],
  'rail.resume': ['credits a merchant', 'credits a wallet', 'names where money goes'],
  'rail.return-late-money': ['sends money out'],
  'rail.rotate-secret': ['gives access to money'],
  // For fees that the rail returns or overcharges. The rest arrives in the operator's own bank account.
  'rail.settle': ['credits the operator', 'sends money out'],
  'reconcile.book-as': ['credits the operator', 'sends money out'],
  // Once the money is in suspense, the operator can move it.
  'reconcile.park': ['credits the operator'],
  'reconcile.return': ['credits the operator', 'sends money out'],
  'token.add': ['gives access to money'],
  'transfer.confirm': ['credits a merchant'],
  'transfer.return': ['sends money out'],
  'transfer.settle-refund': ['credits a merchant'],
  // The PIN is shown to the operator and gives access to later deposits.
  'wallet.add': ['gives access to money'],
  'wallet.reset-pin': ['gives access to money'],
  // Only if a limit becomes higher.
  'wallet.set-limits': ['credits a wallet', 'gives access to money'],
  'wallet.top-up': ['credits a wallet'],
  'wallet.unlock': ['gives access to money'],
} as const satisfies Readonly<Record<string, readonly Effect[]>>

export type AuditedAction = keyof typeof effectsOfActions

function none<Name extends string>(...names: readonly Name[]): Record<Name, readonly Effect[]> {
  const all: Partial<Record<Name, readonly Effect[]>> = {}
  for (const name of names) all[name] = []
  // Safe: every name was set.
  return all as Record<Name, readonly Effect[]>
}
