// Every route of the admin API, in the order in which the description names them.
import type { ApiRoute } from './api.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { bookRoutes } from './routes/books.ts'
import { callbackRoutes } from './routes/callbacks.ts'
import { merchantKeyRoutes } from './routes/merchant-keys.ts'
import { merchantRoutes } from './routes/merchants.ts'
import { orderRoutes } from './routes/orders.ts'
import { walletRoutes } from './routes/wallets.ts'

export const apiRoutes: readonly ApiRoute[] = [
  ...orderRoutes,
  ...callbackRoutes,
  ...merchantRoutes,
  ...merchantKeyRoutes,
  ...walletRoutes,
  ...approvalRoutes,
  ...bookRoutes,
]
