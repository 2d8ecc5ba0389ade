// A consumer withdraws: the money is held at once and goes to a bank account as a payout. Withdrawals within the
// automatic limit of 24 hours share tomorrow's run. Any withdrawal beyond the limit has its own run, which an operator
// sends or cancels.
import { Failure, makeTransactionId, makeUuid, toDecimalText, uuidPattern } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { carryOutOnce } from '../../core/audit/carry-out-once.ts'
import { availableMinor } from '../../core/ledger/rules/transfer.ts'
import { ownMerchantId } from '../../core/orders/rules/top-up.ts'
import type { Wallet } from '../../core/wallets/rules/wallet.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import { holderOf, parsePayoutDetails } from '../../finance/payouts/rules/merchant-bank-account.ts'
import type { Payout } from '../../finance/payouts/rules/payout.ts'
import { maxPayoutMinor } from '../../finance/payouts/rules/payout-amount.ts'
import type { PayoutStore } from '../../finance/payouts/store/payouts.ts'
import type { FindOwnMerchant } from '../../finance/top-ups/own-merchant.ts'
import { withoutSpaces } from '../../finance/treasury/rules/mod-97.ts'
import type { BankAccount, BankDetails } from '../../finance/treasury/rules/operator-bank-account.ts'
import { mainBank } from '../../finance/treasury/rules/operator-bank-account.ts'
import type { BankAccountStore } from '../../finance/treasury/store/bank-accounts.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { WithdrawalRequest, WithdrawalStore } from './store/request-withdrawal.ts'

export interface WithdrawParts extends ClockAndRandom {
  readonly withdrawals: WithdrawalStore
  readonly payouts: Pick<PayoutStore, 'listPayouts'>
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
  readonly wallets: Pick<WalletStore, 'listBalances'>
  readonly findOwnMerchant: FindOwnMerchant
  /** The automatic limit of 24 hours, by currency. */
  readonly policy: ReadonlyMap<string, bigint> | undefined
}

export interface Withdrawal {
  readonly wallet: Wallet
  readonly currency: string
  readonly amountMinor: bigint
  readonly iban: string
  /** A UUID of the form. The same form sent twice is one withdrawal; with different content it is rejected. */
  readonly formNumber: string
}

export type Withdraw = ReturnType<typeof makeWithdraw>

export function makeWithdraw(parts: WithdrawParts) {
  const { withdrawals, clock, random } = parts
  return {
    /** Currencies with a balance that an operator's bank account can pay. */
    async currencies(walletId: string): Promise<readonly string[]> {
      if ((await parts.findOwnMerchant()).status !== 'active') return []
      const banks = await parts.bankAccounts.listBanks()
      return (await parts.wallets.listBalances(walletId))
        .filter((account) => availableMinor(account) > 0n && bankFor(banks, account.currency))
        .map(({ currency }) => currency)
    },

    list: (walletId: string, limit: number): Promise<readonly Payout[]> =>
      parts.payouts.listPayouts({ merchantId: ownMerchantId, walletId }, { limit }),

    /** Returns the destination account. Throws if the withdrawal is not possible, and changes nothing. */
    async check(given: Withdrawal): Promise<BankDetails> {
      const { wallet, currency, amountMinor } = given
      if (await isRequested(given)) return accountOf(given)
      const { account } = await prepare(given)
      const balances = await parts.wallets.listBalances(wallet.walletId)
      const balance = balances.find((each) => each.currency === currency)
      if (!balance || availableMinor(balance) < amountMinor) throw tooLittle()
      return account
    },

    /** Throws if the withdrawal is not possible. The owner has confirmed with the PIN. */
    async request(given: Withdrawal & { readonly address: string }): Promise<void> {
      const { wallet, formNumber } = given
      const consumer = { actor: `consumer@${given.address}` }
      const recorded = makeAuditEntry({ clock, random }, consumer, 'wallet.withdraw', wallet.walletId, {
        merchantId: ownMerchantId,
      })
      const outcome = await carryOutOnce<'insufficient_funds'>(
        recorded,
        { idempotencyKey: formNumber },
        {
          isRecorded: () => isRequested(given),
          async attempt() {
            const requested = await withdrawals.request(await prepare(given), recorded)
            return requested === 'requested' ? 'done' : requested
          },
        },
      )
      if (outcome === 'insufficient_funds') throw tooLittle()
    },
  }

  /**
   * Checked before any reason to reject a new withdrawal. Throws if the form number belongs to a different withdrawal.
   */
  async function isRequested({
    wallet,
    currency,
    amountMinor,
    iban,
    formNumber,
  }: Withdrawal): Promise<boolean> {
    if (!uuidPattern.test(formNumber)) throw notNow()
    const earlier = await withdrawals.find(wallet.walletId, formNumber)
    if (!earlier) return false
    const isSame =
      earlier.currency === currency &&
      earlier.amountMinor === amountMinor &&
      earlier.account.iban === withoutSpaces(iban)
    if (isSame) return true
    throw new Failure('number_already_used', {
      message: 'This form was already submitted with another amount or account. No new withdrawal was made.',
    })
  }

  async function prepare(given: Withdrawal): Promise<WithdrawalRequest> {
    const { wallet, currency, amountMinor, formNumber } = given
    const account = accountOf(given)
    const most = maxPayoutMinor(currency)
    if (amountMinor > most)
      throw invalid('amount', `amount must be ${toDecimalText(most, currency)} at most.`)
    const bank = bankFor(await parts.bankAccounts.listBanks(), currency)
    if (!bank || (await parts.findOwnMerchant()).status !== 'active') throw notNow()
    const nowMs = clock.now()
    return {
      wallet,
      formNumber,
      currency,
      amountMinor,
      account,
      bankName: bank.bankName,
      payoutId: makeTransactionId(nowMs, random),
      newRunId: () => makeUuid(nowMs, random),
      automaticUpToMinor: parts.policy?.get(currency) ?? 0n,
    }
  }
}

function accountOf({ wallet, iban }: Withdrawal): BankDetails {
  return parsePayoutDetails({ holder: holderOf(wallet.name), iban, lines: undefined, bic: undefined })
}

/** The account of this currency, or the main account, which holds all currencies. */
function bankFor(banks: readonly BankAccount[], currency: string): BankAccount | undefined {
  const open = banks.filter(({ closedAtMs }) => closedAtMs === undefined)
  return (
    open.find((bank) => bank.currency === currency) ??
    open.find(({ bankName, currency: only }) => bankName === mainBank && only === undefined)
  )
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}

function notNow(): Failure {
  return new Failure('status_does_not_allow', { message: 'Withdrawals are not available right now.' })
}

function tooLittle(): Failure {
  return new Failure('status_does_not_allow', {
    field: 'amount',
    message: 'Insufficient balance.',
  })
}
