// What the console needs from the gateway, once the database is there: the operations that the command line uses
// too, each in the name of the operator who acts, and what its pages read.
import type { AuthenticateOperator } from '../../operations/authenticate-operator.ts'
import type { FindOrders } from '../../operations/find-orders.ts'
import type { ManageOperators } from '../../operations/manage-operators.ts'
import type { ManageOrders } from '../../operations/manage-orders.ts'
import type { OperatorSessions } from '../../operations/operator-sessions.ts'
import type { ManageCallbacks } from '../../operations/resend-callbacks.ts'
import type { ShowOrder } from '../../operations/show-order.ts'
import type { Sealing } from '../checkout/sealing.ts'

export interface ConsoleService {
  readonly authenticate: AuthenticateOperator
  readonly sessions: OperatorSessions
  readonly sealing: Sealing
  readonly formKey: Buffer
  readonly orders: FindOrders
  readonly showOrder: ShowOrder
  /** The operations of one operator. */
  as(actor: string): ConsoleOperations
}

export interface ConsoleOperations {
  readonly operators: ManageOperators
  readonly orders: ManageOrders
  readonly callbacks: ManageCallbacks
}
