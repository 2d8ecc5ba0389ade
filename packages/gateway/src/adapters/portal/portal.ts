// What the portal's areas are made of: pages that are shown, forms that are sent, files that are downloaded. An area is a
// list of them as data; routes.ts puts each behind the same guard.
import type { RandomBytes } from '@tillgate/protocol'
import type { Action } from '../../actions/action.ts'
import type { MerchantOperations } from '../../actions/operations.ts'
import type { FieldError } from '../../actions/read-input.ts'
import type { MerchantContext } from '../../core/audit/context.ts'
import type { MemberRole } from '../../core/audit/rules/roles.ts'
import type { makeChangePassword } from '../../identity/accounts/change-password.ts'
import type { Account, Session } from '../../identity/accounts/rules/account.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey.ts'
import type { Apply } from '../../identity/applications/apply.ts'
import type { OpenLinks } from '../../identity/members/open-links.ts'
import type { Membership } from '../../identity/members/rules/member.ts'
import type { SignInMemberByProvider } from '../../identity/members/sign-in-by-provider.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { AccountService } from '../kit/accounts/surface.ts'
import type { CookieJar } from '../kit/cookies.ts'
import type { Downloads } from '../kit/downloads.ts'
import type { Content } from '../kit/html.ts'
import type { Language } from './languages.ts'

export const prefix = '/merchant'

/** What the portal needs from the gateway, once the database is there. */
export interface PortalService extends AccountService {
  readonly signInByProvider: SignInMemberByProvider
  readonly links: OpenLinks
  readonly apply: Apply
  /** Undefined without mail. Tells nobody whether there is such an account. */
  readonly askRecovery: ((email: string) => Promise<void>) | undefined
  readonly publicUrl: string
  /** The oldest first. */
  listMemberships(login: string): Promise<readonly Membership[]>
  readonly changePassword: ReturnType<typeof makeChangePassword>
  readonly operations: MerchantOperations
}

export interface PortalParts {
  readonly mode: 'sandbox' | 'live'
  /** Whether strangers may apply. */
  readonly takesApplications: boolean
  readonly jar: CookieJar
  readonly random: RandomBytes
  readonly clock: Clock
  readonly log: Log
  readonly downloads: Downloads
  readonly isUnavailable: (error: unknown) => boolean
  /** Throws while the gateway is still starting. */
  readonly running: () => PortalService
  readonly catalog: readonly Action[]
}

/** A request of somebody who is signed in, for one of their shops. */
export interface Visit {
  readonly portal: PortalService
  readonly operations: MerchantOperations
  /** Limited to the shop: pages and forms reach nothing else. */
  readonly context: MerchantContext
  /** For the audit: who, and from where. */
  readonly actor: string
  readonly member: Membership
  readonly memberships: readonly Membership[]
  readonly account: Account
  readonly session: Session
  readonly formToken: string
  /** Undefined: reached by a number, it can have no passkeys. */
  readonly site: PasskeySite | undefined
  readonly nowMs: number
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly language: Language
  readonly catalog: readonly Action[]
  /** A form of this page was sent, and could not be done. */
  readonly refused?: Refused | undefined
}

export interface Refused {
  readonly typed: URLSearchParams
  readonly errors: readonly FieldError[]
}

export type AreaName = 'home' | 'orders' | 'money' | 'developer' | 'shop'

export interface PortalPage {
  readonly title: string
  readonly area: AreaName
  /** At the end of the line of the title: what is done most often here. */
  readonly beside?: Content
  readonly content: Content
  /** Makes keys in the browser. */
  readonly withKeyScript?: true
  readonly withPasskeyScript?: true
}

/** What a form leads to: a page to go to with a sentence on it, another shop, a page that is shown this once, or the form again. */
export type Done =
  | { readonly kind: 'go'; readonly to: string; readonly note: string }
  /** Another of their shops from now on. */
  | { readonly kind: 'switch'; readonly merchantId: string }
  | { readonly kind: 'shown_once'; readonly page: PortalPage }
  | { readonly kind: 'refused'; readonly errors: readonly FieldError[] }

export interface PortalView {
  /** Below the prefix. */
  readonly path: string
  /** Undefined: everybody may. */
  readonly roles?: readonly MemberRole[]
  /** Undefined: there is no such thing. */
  readonly show: (visit: Visit) => Promise<PortalPage | undefined>
}

export interface PortalAct {
  readonly path: string
  readonly roles?: readonly MemberRole[]
  /** At which errors can stand. */
  readonly fields: readonly string[]
  /** Its form is sent as multipart/form-data. */
  readonly takesFile?: boolean
  readonly act: (visit: Visit, form: URLSearchParams) => Promise<Done>
  /** The page that comes back when it is refused. */
  readonly back: PortalView['show']
}

export interface PortalDownload {
  readonly path: string
  readonly roles?: readonly MemberRole[]
  readonly download: (visit: Visit) => Promise<{ fileName: string; content: AsyncIterable<string> }>
}

export type PortalRoute = PortalView | PortalAct | PortalDownload

export function mayUse({ roles }: Pick<PortalRoute, 'roles'>, { role }: { role: MemberRole }): boolean {
  return roles?.includes(role) ?? true
}

/** Below the prefix, what is in it encoded. */
export function pathTo(path: string, values: Readonly<Record<string, string | undefined>> = {}): string {
  return prefix + path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
