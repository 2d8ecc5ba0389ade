// A merchant's bank accounts: a new one takes effect after a waiting period in which it can be stopped. Both are
// recorded, and the merchant is notified by email.

import { digitsOf, Failure, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Context } from '../../core/authority/context.ts'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import { writtenTime } from '../../core/emails/rules/email.ts'
import { bindWithin } from '../../core/merchants/within.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { BankDetails } from '../treasury/rules/operator-bank-account.ts'
import {
  accountAt,
  describeBankDetails,
  type MerchantBankAccount,
  parseMerchantBankDetails,
  shortenBankDetails,
} from './rules/merchant-bank-account.ts'
import type { MerchantBankAccountStore } from './store/merchant-bank-accounts.ts'

export interface ManageBankAccountsParts extends ClockAndRandom {
  readonly stores: { readonly bankAccounts: MerchantBankAccountStore }
  readonly waitMs: number
  readonly makeEmails: MakeEmails
}

export type NewBankAccount = BankDetails & { readonly currency: string }

export type ManageBankAccounts = ReturnType<typeof makeManageBankAccounts>

type Parts = ManageBankAccountsParts

export function makeManageBankAccounts(parts: ManageBankAccountsParts) {
  return bindWithin(parts, { listBankAccounts, setBankAccount, stopBankAccount })
}

async function listBankAccounts(
  { stores }: Parts,
  _context: Context,
  merchantId: string,
): Promise<readonly MerchantBankAccount[]> {
  return stores.bankAccounts.listAccounts(merchantId)
}

async function setBankAccount(
  parts: Parts,
  context: Context,
  merchantId: string,
  { currency, ...given }: NewBankAccount,
  { reason }: { readonly reason: string },
): Promise<MerchantBankAccount> {
  const {
    waitMs,
    clock,
    random,
    stores: { bankAccounts },
  } = parts
  digitsOf(currency)
  const details = parseMerchantBankDetails(given)
  const setAtMs = clock.now()
  const all = await bankAccounts.listAccounts(merchantId)
  const before = accountAt(
    all.filter((each) => each.currency === currency),
    setAtMs,
  )
  const account = {
    ...details,
    merchantId,
    bankAccountId: makeUuid(setAtMs, random),
    currency,
    setAtMs,
    validFromMs: setAtMs + waitMs,
    endedAtMs: undefined,
  }
  const change = `${currency}: ${before ? describeBankDetails(before) : 'none'} -> ${describeBankDetails(details)}`
  const recorded = makeAuditEntry(parts, context, 'merchant.bank-account', account.bankAccountId, {
    merchantId,
    reason: `${change}: ${reason}`,
    emails: parts.makeEmails('bank-account-changed', {
      merchantId,
      parameters: {
        currency,
        account: shortenBankDetails(details),
        time: writtenTime(account.validFromMs),
      },
    }),
  })
  if (await bankAccounts.setAccount(account, recorded)) return account
  throw new Failure('not_found', { message: `Merchant ${merchantId} does not exist.` })
}

/** For an account that the merchant does not recognize. */
async function stopBankAccount(
  parts: Parts,
  context: Context,
  key: { merchantId: string; bankAccountId: string },
  reason: string,
): Promise<void> {
  const { merchantId, bankAccountId } = key
  const isMember = context.authority?.kind === 'member'
  const stopped = await parts.stores.bankAccounts.stopAccount(
    { ...key, nowMs: parts.clock.now() },
    (hasPrevious) =>
      makeAuditEntry(parts, context, 'merchant.stop-bank-account', bankAccountId, {
        merchantId,
        reason,
        // The merchant, who is warned of the new account, may always keep the previous one.
        ...((isMember || !hasPrevious) && { effects: [] }),
      }),
  )
  if (stopped) return
  throw new Failure('status_does_not_allow', {
    message: 'No such waiting bank account. To replace an account in use, set a new one.',
  })
}
