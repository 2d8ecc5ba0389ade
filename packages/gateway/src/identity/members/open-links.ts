// What the holder of a one-time link does: view it any number of times, and use it once.
import { Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { MemberRole } from '../../core/authority/rules/roles.ts'
import { accessEnded } from '../../core/authority/rules/roles.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { sealPassword } from '../accounts/change-password.ts'
import type { Account } from '../accounts/rules/account.ts'
import { type Access, parsePassword } from '../accounts/rules/account.ts'
import type { AccountSessionStore } from '../accounts/store/account-sessions.ts'
import { hashToken } from './manage-members.ts'
import type { LinkKind, MemberLink } from './rules/member.ts'
import { AccountExists, type MemberLinkStore } from './store/member-links.ts'

export interface OpenLinksParts extends ClockAndRandom {
  readonly links: MemberLinkStore
  readonly accounts: Pick<AccountSessionStore<Account>, 'findAccount'>
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly vault: Vault
}

export interface OpenInvitation {
  readonly linkId: string
  readonly login: string
  readonly name: string | undefined
  readonly merchantId: string
  readonly merchantName: string
  readonly role: MemberRole
  /** If true, the holder signs in; otherwise they choose a password. */
  readonly hasAccount: boolean
}

export type OpenLinks = ReturnType<typeof makeOpenLinks>

const tokenPattern = /^[\w-]{43}$/

export function makeOpenLinks(parts: OpenLinksParts) {
  const { links, accounts, merchants, clock } = parts

  const find = async (token: string, kind: LinkKind): Promise<MemberLink | undefined> => {
    if (!tokenPattern.test(token)) return undefined
    const link = await links.findLink(hashToken(token))
    const isOpen = link?.kind === kind && link.usedAtMs === undefined && link.expiresAtMs > clock.now()
    return isOpen ? link : undefined
  }

  const entry = (
    name: 'member.join' | 'member.new-password',
    { login, merchantId }: Pick<MemberLink, 'login' | 'merchantId'>,
    actor: string,
  ) => makeAuditEntry(parts, { actor }, name, login, { merchantId })

  return {
    /** Undefined if the link was used or withdrawn, has expired, or never existed. */
    async findInvitation(token: string): Promise<OpenInvitation | undefined> {
      const link = await find(token, 'invitation')
      if (link?.merchantId === undefined || link.role === undefined) return undefined
      const { linkId, login, name, merchantId, role } = link
      const [known, account] = await Promise.all([
        merchants.findMerchant(merchantId),
        accounts.findAccount(login),
      ])
      if (!known || account?.status === 'disabled') return undefined
      const { name: merchantName } = known.merchant
      return { linkId, login, name, merchantId, merchantName, role, hasAccount: account !== undefined }
    },

    /** Creates the account with a chosen password. The member signs in afterwards. */
    async joinAnew(invitation: OpenInvitation, password: string, actor: string): Promise<void> {
      const { login, name } = invitation
      const account = {
        login,
        name,
        nowMs: clock.now(),
        sealedPassword: await sealPassword(
          { kind: 'member', login, password: parsePassword(password) },
          parts,
        ),
      }
      const recorded = entry('member.join', invitation, actor)
      const joined = await links
        .joinAnew({ ...invitation, nowMs: account.nowMs }, account, recorded)
        .catch((error: unknown) => {
          if (error instanceof AccountExists) return false
          throw error
        })
      if (!joined) throw usedUp()
    },

    /** Joins a signed-in person whose login is the invited address. */
    async join(invitation: OpenInvitation, access: Access, actor: string): Promise<void> {
      if (access.login !== invitation.login) throw usedUp()
      const nowMs = clock.now()
      if (!(await links.join({ ...invitation, nowMs }, access, entry('member.join', invitation, actor))))
        throw accessEnded(access.login)
    },

    /** Undefined for the same reasons. */
    findRecovery: (token: string) => find(token, 'recovery'),

    /** Ends all sessions. A second step stays. */
    async recover(link: MemberLink, password: string, actor: string): Promise<void> {
      const { linkId, login } = link
      const sealedPassword = await sealPassword(
        { kind: 'member', login, password: parsePassword(password) },
        parts,
      )
      const change = { login, sealedPassword, nowMs: clock.now() }
      if (!(await links.recover(linkId, change, entry('member.new-password', link, actor)))) throw usedUp()
    },
  }
}

function usedUp(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'This link was already used or has expired. Ask for a new one.',
  })
}
