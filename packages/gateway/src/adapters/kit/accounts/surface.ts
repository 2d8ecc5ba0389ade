// What console and portal are, so that both sign people in with the same code.
import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyRequest } from 'fastify'
import type { Action } from '../../../actions/action.ts'
import type { Authenticate } from '../../../identity/accounts/authenticate.ts'
import type { makeChangeName } from '../../../identity/accounts/change-name.ts'
import type { makeChangePassword } from '../../../identity/accounts/change-password.ts'
import type { Passkeys } from '../../../identity/accounts/passkeys.ts'
import type { Access, Account, Session } from '../../../identity/accounts/rules/account.ts'
import type { SecondStep } from '../../../identity/accounts/second-step.ts'
import type { Sessions } from '../../../identity/accounts/sessions.ts'
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { Log } from '../../../platform/runtime/log.ts'
import type { OpenIdClaims, OpenIdClient } from '../../../platform/runtime/outside/openid.ts'
import type { DoorCall, DoorSurface } from '../door.ts'
import type { Downloads } from '../downloads.ts'
import type { Content, Html } from '../html.ts'
import type { SpokenLanguage } from '../languages/languages.ts'
import type { BaseVisit } from '../routes.ts'
import type { CookieSecrets } from './cookies.ts'
import type { AccountWords } from './words.ts'

/** How people of one kind sign in, and what they do with their own account. */
export interface AccountOperations<Person extends Account = Account> {
  readonly authenticate: Authenticate<Person>
  readonly sessions: Sessions<Person>
  readonly secondStep: SecondStep
  readonly passkeys: Passkeys
  findAccount(login: string): Promise<Person | undefined>
  readonly changePassword: ReturnType<typeof makeChangePassword>
  readonly changeName: ReturnType<typeof makeChangeName>
}

/** What the gateway gives to the console and to the portal. */
export interface AccountParts<Operations> {
  readonly mode: 'sandbox' | 'live'
  /** Whether anyone may apply for live keys. */
  readonly takesApplications: boolean
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  readonly downloads: Downloads
  readonly isUnavailable: (error: unknown) => boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => {
    readonly operations: Operations
    readonly secrets: CookieSecrets
    readonly provider: OpenIdClient | undefined
  }
  readonly catalog: readonly Action[]
}

/** A request of a person who signed in to an account. */
export interface AccountVisit extends BaseVisit {
  readonly accounts: AccountOperations
  readonly account: Account
  readonly session: Session
  /** For the audit log: the person and their address. */
  readonly actor: string
  readonly language: SpokenLanguage<AccountWords>
}

export type Call<Words extends AccountWords = AccountWords> = DoorCall<SpokenLanguage<Words>>

/** How console and portal sign people in. */
export interface SignInSurface<Words extends AccountWords = AccountWords>
  extends DoorSurface<SpokenLanguage<Words>> {
  /** As the log names it. */
  readonly name: 'console' | 'portal'
  readonly login: { readonly name: string; readonly type: 'text' | 'email'; readonly maxLength: number }
  readonly clock: Clock
  readonly log: Log
  /** Throws while the gateway is still starting, like `provider`. */
  readonly accounts: () => AccountOperations
  /** Undefined without an identity provider. */
  readonly provider: () => OpenIdClient | undefined
  /** The identity provider sends people back to the first one. */
  originsOf(request: FastifyRequest): readonly [string, ...string[]]
  /** As in the audit log. */
  actorOf(request: FastifyRequest, login: string): string
  /** A text is the reason for the log. */
  signInAtProvider(
    claims: OpenIdClaims,
    flow: { readonly next: string; readonly actorOf: (login: string) => string },
  ): Promise<Access | string>
  /** Below the form of the password, and of the code. */
  helpOf(call: Call<Words>, step: 'password' | 'code'): Content
  /** Above the form of the password. */
  abovePassword?(call: Call<Words>): Html | undefined
  /** In the form of the password, below its button. */
  belowPassword?(call: Call<Words>): Html | undefined
}
