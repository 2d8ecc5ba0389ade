// Operators' actions on their own bank accounts, each recorded in the audit log.

import { isDeepStrictEqual } from 'node:util'
import { digitsOf, Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import {
  type BankAccount,
  type BankDetails,
  mainBank,
  parseBankDetails,
} from './rules/operator-bank-account.ts'
import type { BankAccountStore } from './store/bank-accounts.ts'
import type { Opening } from './store/own-money.ts'

export interface ManageBanksParts extends ClockAndRandom {
  readonly banks: BankAccountStore
}

export interface BankWithOpenings {
  readonly bank: BankAccount
  readonly openings: readonly Opening[]
}

export type ManageBanks = ReturnType<typeof makeManageBanks>

export function makeManageBanks(parts: ManageBanksParts) {
  const { banks, clock } = parts

  const find = async (bankName: string): Promise<BankAccount> => {
    const found = (await banks.listBanks()).find((bank) => bank.bankName === bankName)
    if (!found) throw new Failure('not_found', { message: `Bank account ${bankName} does not exist.` })
    return found
  }

  const withOpenings = async (bank: BankAccount): Promise<BankWithOpenings> => ({
    bank,
    openings: await banks.listOpenings(bank.bankName),
  })

  return {
    async listBanks(_context: AnyContext): Promise<BankWithOpenings[]> {
      const all = await banks.listBanks()
      return Promise.all(all.map(withOpenings))
    },

    async showBank(_context: AnyContext, bankName: string): Promise<BankWithOpenings> {
      return withOpenings(await find(bankName))
    },

    async addBank(
      context: AnyContext,
      given: BankDetails & { readonly bankName: string; readonly currency: string | undefined },
      reason: string,
    ): Promise<BankAccount> {
      const { bankName, currency } = given
      if (currency !== undefined) digitsOf(currency)
      const details = parseBankDetails(given)
      if (details.iban === undefined && details.lines === undefined)
        throw new Failure('invalid_field', {
          field: 'iban',
          message: 'Enter the IBAN, or the lines that a transfer to the account needs.',
        })
      const bank = { bankName, currency, ...details, createdAtMs: clock.now(), closedAtMs: undefined }
      if (await banks.insertBank(bank, makeAuditEntry(parts, context, 'bank.add', bankName, { reason })))
        return bank
      throw new Failure('status_does_not_allow', {
        field: 'bankName',
        message: `Bank account ${bankName} already exists. Choose another name, or change that account.`,
      })
    },

    /** Replaces all details; omitted ones are removed. */
    async changeBank(
      context: AnyContext,
      bankName: string,
      given: BankDetails,
      reason: string,
    ): Promise<BankAccount> {
      const before = await find(bankName)
      const details = parseBankDetails(given)
      const why = `${describe(before)} -> ${describe(details)}: ${reason}`
      const isSameAccount = isDeepStrictEqual(accountOf(before), accountOf(details))
      const recorded = makeAuditEntry(parts, context, 'bank.change', bankName, {
        reason: why,
        ...(isSameAccount && { effects: [] }),
      })
      if (await banks.changeBank(before, details, recorded)) return find(bankName)
      if ((await find(bankName)).closedAtMs !== undefined) throw closed(bankName)
      throw new Failure('status_does_not_allow', {
        message: `The bank account ${bankName} was changed in the meantime. Reload and try again.`,
      })
    },

    async closeBank(context: AnyContext, bankName: string, reason: string): Promise<BankAccount> {
      await find(bankName)
      if (bankName === mainBank)
        throw new Failure('status_does_not_allow', {
          message: `${mainBank} cannot be closed, because it is the default account.`,
        })
      if (
        !(await banks.closeBank(bankName, makeAuditEntry(parts, context, 'bank.close', bankName, { reason })))
      )
        throw closed(bankName)
      return find(bankName)
    },
  }
}

/** Excludes the holder, which does not identify an account. */
function accountOf({ iban, lines, bic }: BankDetails) {
  return { iban, lines, bic }
}

function describe({ holder, iban, lines, bic }: BankDetails): string {
  return [holder, iban ?? lines?.join(' / '), bic].filter((part) => part !== undefined).join(', ')
}

function closed(bankName: string): Failure {
  return new Failure('status_does_not_allow', { message: `The bank account ${bankName} is closed.` })
}
