// A consumer withdraws: the money is held in the wallet at once and goes to a bank account as a payout does. Up to the limit
// of the operator's policy it goes with all others of the day in the run of tomorrow; what is more gets a run of its own,
// which an operator looks at, and sends or cancels.
import { Failure, makeTransactionId, makeUuid, toDecimalText, uuidPattern } from '@tillgate/protocol'
import { availableMinor } from '../ledger/rules/transfer.ts'
import { makeActs } from '../operators/audit-entries.ts'
import { carryOutOnce } from '../operators/carry-out-once.ts'
import type { ClockAndRandom } from '../platform/clock.ts'
import type { BankAccount } from '../treasury/rules/bank-account.ts'
import { mainBank } from '../treasury/rules/bank-account.ts'
import type { BankAccountStore } from '../treasury/store/bank-accounts.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import type { FindOwnMerchant } from '../wallets/own-merchant.ts'
import { ownMerchantId } from '../wallets/rules/top-up.ts'
import type { Wallet } from '../wallets/rules/wallet.ts'
import type { WalletStore } from '../wallets/store/wallets.ts'
import { parseMerchantBankDetails } from './rules/bank-account.ts'
import type { Payout } from './rules/payout.ts'
import { maxPayoutMinor } from './rules/payout-amount.ts'
import type { PayoutStore } from './store/payouts.ts'
import type { WithdrawalStore } from './store/request-withdrawal.ts'

export interface WithdrawParts extends ClockAndRandom {
  readonly withdrawals: WithdrawalStore
  readonly payouts: Pick<PayoutStore, 'listPayouts'>
  readonly bankAccounts: Pick<BankAccountStore, 'listBanks'>
  readonly treasury: Pick<TreasuryStore, 'isRecorded'>
  readonly wallets: Pick<WalletStore, 'listBalances'>
  readonly findOwnMerchant: FindOwnMerchant
  /** By currency: what goes out without an operator who looks at it. */
  readonly policy: ReadonlyMap<string, bigint> | undefined
}

export interface Withdrawal {
  readonly wallet: Wallet
  readonly currency: string
  readonly amountMinor: bigint
  readonly iban: string
  /** Of the form, a UUID: sent twice, it is one withdrawal. */
  readonly formNumber: string
  readonly address: string
}

export type Withdraw = ReturnType<typeof makeWithdraw>

export function makeWithdraw(parts: WithdrawParts) {
  const { withdrawals, clock, random } = parts
  return {
    /** The currencies that something is there of, and that an account of the operator pays. */
    async currencies(walletId: string): Promise<readonly string[]> {
      if ((await parts.findOwnMerchant()).status !== 'active') return []
      const banks = await parts.bankAccounts.listBanks()
      return (await parts.wallets.listBalances(walletId))
        .filter((account) => availableMinor(account) > 0n && bankFor(banks, account.currency))
        .map(({ currency }) => currency)
    },

    list: (walletId: string, limit: number): Promise<readonly Payout[]> =>
      parts.payouts.listPayouts({ merchantId: ownMerchantId, walletId }, { limit }),

    /** Throws where it cannot be. The wallet's owner has proven who they are. */
    async request(given: Withdrawal): Promise<void> {
      const { wallet, currency, amountMinor, formNumber } = given
      const account = parseMerchantBankDetails({
        holder: wallet.name,
        iban: given.iban,
        lines: undefined,
        bic: undefined,
      })
      const most = maxPayoutMinor(currency)
      if (amountMinor > most)
        throw invalid('amount', `amount must be ${toDecimalText(most, currency)} at most.`)
      const bank = bankFor(await parts.bankAccounts.listBanks(), currency)
      if (!bank || (await parts.findOwnMerchant()).status !== 'active' || !uuidPattern.test(formNumber))
        throw new Failure('status_does_not_allow', { message: 'Withdrawals are not possible just now.' })
      const act = makeActs({ clock, random, actor: `consumer@${given.address}` })
      const made = act('wallet.withdraw', wallet.walletId, { merchantId: ownMerchantId })
      const recorded = { ...made, auditId: formNumber }
      const request = {
        walletId: wallet.walletId,
        currency,
        amountMinor,
        account,
        bankName: bank.bankName,
        payoutId: makeTransactionId(recorded.actedAtMs, random),
        newRunId: () => makeUuid(recorded.actedAtMs, random),
        isOfItsOwn: amountMinor > (parts.policy?.get(currency) ?? 0n),
      }
      const outcome = await carryOutOnce<'insufficient_funds'>(
        recorded,
        { actId: formNumber },
        {
          isRecorded: parts.treasury.isRecorded,
          async attempt() {
            const requested = await withdrawals.request(request, recorded)
            return requested === 'requested' ? 'done' : requested
          },
        },
      )
      if (outcome === 'insufficient_funds')
        throw new Failure('status_does_not_allow', {
          field: 'amount',
          message: 'There is too little money in the wallet.',
        })
    },
  }
}

/** One of this very currency, or the main one, which holds all. */
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
