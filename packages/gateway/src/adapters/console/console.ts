// What the console's areas are made of: pages that are shown, acts that are done, files that are downloaded. An area
// is a list of them as data; routes.ts puts each behind the same guard.

import { Failure } from '@tillgate/protocol'
import type { Action } from '../../actions/action.ts'
import type { Operations } from '../../actions/operations.ts'
import type { FieldError } from '../../actions/read-input.ts'
import type { AnyContext } from '../../core/audit/context.ts'
import type { Role } from '../../core/audit/rules/roles.ts'
import type { Session } from '../../identity/accounts/rules/account.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import type { SignInByProvider } from '../../identity/operators/sign-in-by-provider.ts'
import type { AccountService } from '../kit/accounts/surface.ts'
import type { SentForm } from '../kit/forms/uploads.ts'
import type { Content } from '../kit/html.ts'
import type { AreaName } from './navigation.ts'

/** What the console needs from the gateway, once the database is there. */
export interface ConsoleService extends AccountService<Operator> {
  readonly operations: Operations
  readonly signInByProvider: SignInByProvider | undefined
  /** Must switch the second step on before anything else. */
  needsSecondStep(operator: Operator): boolean
  /** Whether strangers may apply for live keys. */
  readonly takesApplications: boolean
}

/** A request of somebody who is signed in. */
export interface Visit {
  readonly service: ConsoleService
  readonly operations: Operations
  readonly context: AnyContext
  readonly operator: Operator
  readonly session: Session
  /** For the audit: who, and from where. */
  readonly actor: string
  readonly formToken: string
  /** Undefined: reached by a number, it can have no passkeys. */
  readonly site: PasskeySite | undefined
  readonly nowMs: number
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** A filter's merchant was typed by a name that several have. */
  readonly merchantChoices?: readonly { readonly merchantId: string; readonly name: string }[] | undefined
  /** Path and query of the page. */
  readonly url: string
  /** Whose forms the pages show. */
  readonly catalog: readonly Action[]
  /** A form of this page was sent, and could not be done. */
  readonly refused?: Refused | undefined
}

export interface Refused {
  /** Where the form was sent. */
  readonly action: string
  readonly typed: URLSearchParams
  readonly errors: readonly FieldError[]
}

export interface ConsolePage {
  readonly title: string
  /** Undefined where it is in none. */
  readonly area: AreaName | undefined
  /** At the end of the line of the title. */
  readonly beside?: Content
  readonly content: Content
  /** Brought up to date by the script while somebody looks at it. */
  readonly isLive?: boolean
  readonly withPasskeyScript?: true
}

/**
 * What an action leads to: a page to go to with a sentence on it, otherwise the one that the form stood on; a page that is
 * shown this once; or the form again.
 */
export type Done =
  | {
      readonly kind: 'go'
      readonly to?: string | undefined
      readonly note: string
      readonly cookies?: readonly string[]
    }
  | { readonly kind: 'refused'; readonly errors: readonly FieldError[] }
  | { readonly kind: 'shown_once'; readonly page: ConsolePage }

export interface Download {
  readonly fileName: string
  readonly type: string
  readonly content: AsyncIterable<string>
}

/** Undefined where an operation finds nothing: the page says so. */
export async function orNothing<Found>(finding: Promise<Found>): Promise<Found | undefined> {
  return finding.catch((error: unknown) => {
    if (error instanceof Failure && error.failure === 'not_found') return undefined
    throw error
  })
}

/** What came of it, or the words of the refusal: for a page that tells it in its place. */
export async function orRefused<Found>(work: () => Promise<Found>): Promise<Found | string> {
  return work().catch((error: unknown) => {
    if (error instanceof Failure) return error.message
    throw error
  })
}

export interface ConsoleView {
  readonly path: string
  /** Undefined: there is no such thing. */
  readonly show: (visit: Visit) => Promise<ConsolePage | undefined>
}

export interface ConsoleAct {
  readonly path: string
  readonly needs: Role
  /** Of its form, at which errors can stand. */
  readonly fields: readonly string[]
  /** Its form is sent as multipart/form-data. */
  readonly takesFile?: boolean
  readonly act: (visit: Visit, form: URLSearchParams, files: SentForm['files']) => Promise<Done>
  /** The page of its form, unless the form itself says another. */
  readonly back: (visit: Visit, form: URLSearchParams) => string
}

/** What operators do to their own account, whatever their role. */
export function ownAct(
  path: string,
  given: Omit<ConsoleAct, 'path' | 'needs' | 'back'> & { page: string },
): ConsoleAct {
  return { ...given, path, needs: 'viewer', back: () => given.page }
}

export interface ConsoleDownload {
  readonly path: string
  readonly download: (visit: Visit) => Promise<Download | undefined>
}

export type ConsoleRoute = ConsoleView | ConsoleAct | ConsoleDownload
