import type { Action } from '../../actions/action.ts'
import type { MerchantOperations } from '../../actions/operations.ts'
import type { MerchantContext } from '../../core/authority/context.ts'
import type { MemberRole } from '../../core/authority/rules/roles.ts'
import type { Access } from '../../identity/accounts/rules/account.ts'
import type { Apply } from '../../identity/applications/apply.ts'
import type { OpenLinks } from '../../identity/members/open-links.ts'
import type { Membership } from '../../identity/members/rules/member.ts'
import type { SignInMemberByProvider } from '../../identity/members/sign-in-by-provider.ts'
import type { AccountOperations, AccountParts, AccountVisit } from '../kit/accounts/surface.ts'
import type { CookieJar } from '../kit/cookies.ts'
import type { SmallPage } from '../kit/door.ts'
import type { Content } from '../kit/html.ts'
import type { SavedViews } from '../kit/pages/saved-views.ts'
import type * as kit from '../kit/routes.ts'
import { filledPath } from '../kit/routes.ts'
import type { Language } from './languages.ts'

export const prefix = '/merchant'
/** Opens the sandbox's demo merchant; below the prefix. */
export const demoPath = '/sign-in/demo'

/** The operations behind the portal's pages and forms. */
export interface PortalOperations extends MerchantOperations {
  readonly memberAccounts: AccountOperations
  readonly signInMemberByProvider: SignInMemberByProvider
  readonly memberLinks: OpenLinks
  readonly apply: Apply
  /** Undefined without email. Does not reveal whether there is such an account. */
  readonly askRecovery: ((email: string) => Promise<void>) | undefined
  /** Oldest first. */
  listMemberships(login: string): Promise<readonly Membership[]>
}

export interface PortalParts extends AccountParts<PortalOperations> {
  readonly jar: CookieJar
  readonly hasDocs: boolean
  /** Who is signed in as the owner of the sandbox's demo merchant; undefined where that is not offered. */
  readonly openDemo: (() => Promise<Access | undefined>) | undefined
}

/** A request of a member, for one of their shops. */
export interface Visit extends AccountVisit {
  readonly savedViews: SavedViews
  readonly operations: MerchantOperations
  /** Limited to the shop: pages and forms reach nothing else. */
  readonly context: MerchantContext
  readonly member: Membership
  readonly memberships: readonly Membership[]
  readonly language: Language
  readonly catalog: readonly Action[]
  /** The cookie that selects another shop. */
  shopCookie(merchantId: string): string
}

export type AreaName = 'home' | 'orders' | 'money' | 'developer' | 'shop'

export interface PortalPage extends SmallPage {
  readonly area: AreaName
  /** The page's most frequent action, shown beside its title. */
  readonly beside?: Content
  /** The page of the documentation that explains this one. */
  readonly docs?: `/docs/${string}`
}

/** Undefined: every member may use the route. */
interface ForRoles {
  readonly roles?: readonly MemberRole[]
}

export type Done = kit.Done<Visit, PortalPage>
export type PortalView = kit.View<Visit, PortalPage> & ForRoles
export type PortalAct = kit.FormRoute<Visit, PortalPage> & ForRoles
export type PortalRoute = PortalView | PortalAct | (kit.FileRoute<Visit> & ForRoles)

export function mayUse({ roles }: ForRoles, { role }: { role: MemberRole }): boolean {
  return roles?.includes(role) ?? true
}

/** The full path, with encoded values. */
export function pathTo(path: string, values: Readonly<Record<string, string | undefined>> = {}): string {
  return prefix + filledPath(path, values)
}
