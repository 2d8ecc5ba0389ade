// Acts that may want a second operator, from the command line: the same operations as everywhere. What needs one cannot
// be done from here, because an account of the machine is no person: nobody could say who asked, nor that another
// approved.
import assert from 'node:assert/strict'
import type { MerchantActs } from '../../merchants/merchant-acts.ts'
import type { Outcome } from '../../operators/ask-approval.ts'
import type { MoneyActs } from '../../treasury/money-acts.ts'
import type { CommandContext } from './context.ts'

export function moneyActs({ operations, actor }: CommandContext): MoneyActs {
  return operations.moneyActs({ operator: undefined, actor })
}

export function merchantActs({ operations, actor }: CommandContext): MerchantActs {
  return operations.merchantActs({ operator: undefined, actor })
}

/** Without an operator nothing is asked for: it was done, or it was refused. */
export function done<Result>(outcome: Outcome<Result>): Result {
  assert(outcome.kind === 'done', 'the command line asks for no approval')
  return outcome.result
}
