// Acts on money from the command line: the same operations as everywhere. What needs a second operator cannot be done
// from here, because an account of the machine is no person: nobody could say who asked, nor that another approved.
import assert from 'node:assert/strict'
import { makeCurrentOrder } from '../../orders/current-order.ts'
import { makeManageOrders } from '../../orders/manage-orders.ts'
import { type MoneyActs, makeMoneyActs, type Outcome } from '../../treasury/money-acts.ts'
import { makeMoveFunds } from '../../treasury/move-funds.ts'
import { makeManageWallets } from '../../wallets/manage-wallets.ts'
import type { CommandContext } from './context.ts'

export function moneyActs(context: CommandContext): MoneyActs {
  const { config, core, ...by } = context
  const { approvals, merchants, orders, refunds, treasury, wallets } = core
  return makeMoneyActs({
    orders: makeManageOrders({
      orders,
      refunds,
      merchants,
      currentOrder: makeCurrentOrder({ orders, random: by.random }),
      // The gateway's worker looks by itself.
      onSubmitted: () => {},
      ...by,
    }),
    wallets: makeManageWallets({ wallets, treasury, ...by }),
    funds: makeMoveFunds({ treasury, ...by }),
    approvals,
    policy: config.approvals,
    operator: undefined,
    ...by,
  })
}

/** Without an operator nothing is asked for: it was done, or it was refused. */
export function done<Result>(outcome: Outcome<Result>): Result {
  assert(outcome.kind === 'done', 'the command line asks for no approval')
  return outcome.result
}
