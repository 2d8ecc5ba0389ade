// What the console's areas are made of: pages that are shown, acts that are done, files that are downloaded. An area
// is a list of them as data; routes.ts puts each behind the same guard.

import type { Content } from '../../http/html.ts'
import type { Operator, Role } from '../../operators/rules/operator.ts'
import type { Session } from '../../operators/store/operators.ts'

/** A request of somebody who is signed in. */
export interface Visit {
  readonly operator: Operator
  readonly session: Session
  /** For the audit: who, and from where. */
  readonly actor: string
  readonly formToken: string
  readonly nowMs: number
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
}

export type AreaName =
  | 'overview'
  | 'orders'
  | 'callbacks'
  | 'merchants'
  | 'wallets'
  | 'ledger'
  | 'approvals'
  | 'audit'
  | 'system'
  | 'account'

export interface ConsolePage {
  readonly title: string
  /** Undefined where it is in none. */
  readonly area: AreaName | undefined
  readonly content: Content
  /** Brought up to date by the script while somebody looks at it. */
  readonly isLive?: boolean
}

/** What an act leads to: a page to go to with a sentence on it, or a page that is shown this once. */
export type Done =
  | { readonly kind: 'go'; readonly to: string; readonly note: string; readonly cookies?: readonly string[] }
  | { readonly kind: 'shown_once'; readonly page: ConsolePage }

export interface Download {
  readonly fileName: string
  readonly type: string
  readonly content: AsyncIterable<string>
}

export interface ConsoleView {
  readonly path: string
  /** Undefined: there is no such thing. */
  readonly show: (visit: Visit) => Promise<ConsolePage | undefined>
}

export interface ConsoleAct {
  readonly path: string
  readonly needs: Role
  readonly act: (visit: Visit, form: URLSearchParams) => Promise<Done>
  /** Where to go when it could not be done. */
  readonly back: (visit: Visit) => string
}

export interface ConsoleDownload {
  readonly path: string
  readonly download: (visit: Visit) => Promise<Download | undefined>
}

export type ConsoleRoute = ConsoleView | ConsoleAct | ConsoleDownload
