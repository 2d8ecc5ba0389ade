// What console and portal tell the kit about themselves, so that both sign people in with the same code.
import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Action } from '../../../actions/action.ts'
import type { Authenticate } from '../../../identity/accounts/authenticate.ts'
import type { makeChangePassword } from '../../../identity/accounts/change-password.ts'
import type { Passkeys } from '../../../identity/accounts/passkeys.ts'
import type { Access, Account, Session } from '../../../identity/accounts/rules/account.ts'
import type { PasskeySite } from '../../../identity/accounts/rules/passkey.ts'
import type { SecondStep } from '../../../identity/accounts/second-step.ts'
import type { Sessions } from '../../../identity/accounts/sessions.ts'
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { Log } from '../../../platform/runtime/log.ts'
import type { OpenIdClaims, OpenIdClient } from '../../../platform/runtime/outside/openid.ts'
import type { Downloads } from '../downloads.ts'
import type { Content, Html } from '../html.ts'
import type { SpokenLanguage } from '../languages/languages.ts'
import type { Flash } from '../pages/flash.ts'
import type { BaseVisit } from '../routes.ts'
import type { CookieSecrets, SignInCookies } from './cookies.ts'
import type { AccountWords } from './words.ts'

/** How people of one kind sign in, and what they do with their own account. */
export interface AccountOperations<Person extends Account = Account> {
  readonly authenticate: Authenticate<Person>
  readonly sessions: Sessions<Person>
  readonly secondStep: SecondStep
  readonly passkeys: Passkeys
  findAccount(login: string): Promise<Person | undefined>
  readonly changePassword: ReturnType<typeof makeChangePassword>
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

export interface SmallPage {
  readonly title: string
  readonly content: Content
  /** Makes keys in the browser. */
  readonly withKeyScript?: true
  readonly withPasskeyScript?: true
}

export interface Call<Words extends AccountWords = AccountWords> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly language: SpokenLanguage<Words>
}

export interface SignInSurface<Words extends AccountWords = AccountWords> {
  /** As the log names it. */
  readonly name: 'console' | 'portal'
  /** Where a person is after signing in. */
  readonly home: string
  /** Addresses to which signing in may lead: never those of another host. */
  readonly nextPattern: RegExp
  readonly login: { readonly name: string; readonly type: 'text' | 'email'; readonly maxLength: number }
  readonly cookies: SignInCookies
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  /** Throws while the gateway is still starting, like `provider`. */
  readonly accounts: () => AccountOperations
  /** Undefined without an identity provider. */
  readonly provider: () => OpenIdClient | undefined
  pathTo(path: string): string
  /** As in the audit log. */
  actorOf(request: FastifyRequest, login: string): string
  /** How browsers reach this adapter; the first one is also where the identity provider sends them back. */
  originsOf(request: FastifyRequest): readonly [string, ...string[]]
  /** Undefined if passkeys cannot work at this address. */
  siteOf(request: FastifyRequest): PasskeySite | undefined
  languageOf(request: FastifyRequest, reply: FastifyReply): SpokenLanguage<Words>
  /** A text is the reason for the log. */
  signInAtProvider(
    claims: OpenIdClaims,
    flow: { readonly next: string; readonly actorOf: (login: string) => string },
  ): Promise<Access | string>
  sendSmall(call: Call<Words>, page: SmallPage, flash: Flash | undefined): FastifyReply
  /** Below the form of the password, and of the code. */
  helpOf(call: Call<Words>, step: 'password' | 'code'): Content
  /** In the form of the password, below its button. */
  readonly belowPassword?: (call: Call<Words>) => Html | undefined
}
