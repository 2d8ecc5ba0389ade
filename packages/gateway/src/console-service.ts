// Puts the console together: what its pages need from the operations and stores of an open core.
import type { RandomBytes } from '@tillgate/protocol'
import type { Clock } from './clock.ts'
import type { Core } from './core.ts'
import { makeSealing } from './http/checkout/sealing.ts'
import type { ConsoleService } from './http/console/service.ts'
import { makeAuthenticateOperator } from './operations/authenticate-operator.ts'
import type { CurrentOrder } from './operations/current-order.ts'
import { makeFindOrders } from './operations/find-orders.ts'
import { makeManageOperators } from './operations/manage-operators.ts'
import { makeManageOrders } from './operations/manage-orders.ts'
import { makeOperatorSessions } from './operations/operator-sessions.ts'
import { makeManageCallbacks } from './operations/resend-callbacks.ts'
import { makeShowOrder } from './operations/show-order.ts'
import type { OrderStore } from './store/orders.ts'

export interface ConsoleServiceParts {
  readonly core: Core
  /** Tells the checkout of what changes. */
  readonly orders: OrderStore
  readonly currentOrder: CurrentOrder
  readonly clock: Clock
  readonly random: RandomBytes
  /** A refund waits for its rail. */
  readonly onSubmitted: () => void
}

export function makeConsoleService(parts: ConsoleServiceParts): ConsoleService {
  const { core, orders, currentOrder, clock, random, onSubmitted } = parts
  const { operators, merchants, refunds, vault } = core
  const { history, resends } = core.callbacks
  return {
    authenticate: makeAuthenticateOperator({ operators, clock }),
    sessions: makeOperatorSessions({ operators, clock, random }),
    sealing: makeSealing(vault.deriveKey('console notes'), random),
    formKey: vault.deriveKey('console forms'),
    orders: makeFindOrders({ list: core.orderList }),
    showOrder: makeShowOrder({
      refunds,
      merchants,
      details: core.orderDetails,
      history,
      currentOrder,
      clock,
      random,
    }),
    as: (actor) => {
      const by = { clock, random, actor }
      return {
        operators: makeManageOperators({ operators, ...by }),
        orders: makeManageOrders({ orders, refunds, merchants, currentOrder, onSubmitted, ...by }),
        callbacks: makeManageCallbacks({ history, resends, ...by }),
      }
    },
  }
}
