// The parts of the console's areas: pages, forms and files, each as data behind the guard of the kit.
import { Failure } from '@tillgate/protocol'
import type { Action } from '../../actions/action.ts'
import type { Operations } from '../../actions/operations.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { Role } from '../../core/authority/rules/roles.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import type { SignInByProvider } from '../../identity/operators/sign-in-by-provider.ts'
import type { AccountOperations, AccountVisit } from '../kit/accounts/surface.ts'
import type { Content } from '../kit/html.ts'
import type { SavedViews } from '../kit/pages/saved-views.ts'
import type * as kit from '../kit/routes.ts'
import type { AreaName } from './navigation.ts'

/** The operations behind the console's pages and forms. */
export interface ConsoleOperations extends Operations {
  readonly operatorAccounts: AccountOperations<Operator>
  readonly signInByProvider: SignInByProvider | undefined
}

export interface Visit extends AccountVisit {
  readonly savedViews: SavedViews
  readonly operations: Operations
  readonly context: AnyContext
  readonly account: Operator
  /** The merchants whose name was typed into a filter, if there are several. */
  readonly merchantChoices?: readonly { readonly merchantId: string; readonly name: string }[] | undefined
  /** The actions whose forms the pages show. */
  readonly catalog: readonly Action[]
}

export interface ConsolePage {
  readonly title: string
  /** Undefined if the page belongs to no area. */
  readonly area: AreaName | undefined
  /** At the end of the line of the title. */
  readonly beside?: Content
  readonly content: Content
  /** The script updates the page while it is open. */
  readonly isLive?: boolean
  readonly withPasskeyScript?: true
}

export type Done = kit.Done<Visit, ConsolePage>
export type ConsoleAct = kit.FormRoute<Visit, ConsolePage> & {
  /** Undefined: every operator may do this, because it concerns their own account. */
  readonly needs?: Role
}
export type ConsoleRoute = kit.View<Visit, ConsolePage> | ConsoleAct | kit.FileRoute<Visit>
export type { Download } from '../kit/routes.ts'

/** Undefined if an operation finds nothing. */
export async function orNothing<Found>(finding: Promise<Found>): Promise<Found | undefined> {
  return finding.catch((error: unknown) => {
    if (error instanceof Failure && error.failure === 'not_found') return undefined
    throw error
  })
}

/** The result, or the words of the rejection for a page that shows them in its place. */
export async function orRefused<Found>(work: () => Promise<Found>): Promise<Found | string> {
  return work().catch((error: unknown) => {
    if (error instanceof Failure) return error.message
    throw error
  })
}
