// What a merchant's owner, or an operator for them, does with the merchant's people: invites them, changes their roles,
// lets them go. A link is told once, to whoever hands it over.
import { createHash } from 'node:crypto'
import { Failure, makeUuid } from '@tillgate/protocol'
import type { Grounds } from '../merchants/manage-merchants.ts'
import type { Merchant } from '../merchants/rules/merchant.ts'
import type { MerchantStore } from '../merchants/store/merchants.ts'
import type { MakeNotices } from '../notices/make-notices.ts'
import { type NewNotice, normaliseEmail, parseEmail, writtenTime } from '../notices/rules/notice.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import {
  invitationLimit,
  type LinkKind,
  type ListedMember,
  linkLifeMs,
  type MemberLink,
  type MemberRole,
  maxMembers,
  recoveryEveryMs,
} from './rules/member.ts'
import type { MemberLinkStore, NewLink } from './store/member-links.ts'
import type { MemberStore } from './store/members.ts'

export interface ManageMembersParts extends ActParts {
  readonly members: MemberStore
  readonly links: MemberLinkStore
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
  readonly makeNotices: MakeNotices
  readonly publicUrl: string
}

export interface MadeLink {
  readonly login: string
  /** Opens once, and is told once. Undefined: it went to the address by mail, and nobody else sees it. */
  readonly link: string | undefined
  readonly expiresAtMs: number
}

export interface Invited {
  readonly merchantId: string
  readonly email: string
  readonly role: MemberRole
}

export type ManageMembers = ReturnType<typeof makeManageMembers>

const tokenBytes = 32

export function makeManageMembers(parts: ManageMembersParts) {
  const { members, links, clock } = parts
  const act = makeActs(parts)

  const makeLink = async (about: LinkAbout, name: string, grounds: Grounds): Promise<MadeLink> => {
    const { login, merchantId } = about
    const known = merchantId === undefined ? undefined : await parts.merchants.findMerchant(merchantId)
    const { link, made, notices } = prepareLink({ ...about, merchant: known?.merchant }, parts)
    const recorded = act(name, login, { ...grounds, merchantId, notices })
    const inserted = await links.insertLink(link, { most: maxMembers }, recorded)
    if (!inserted)
      throw new Failure('status_does_not_allow', {
        message: `There are ${maxMembers} members and invitations already. Remove one first.`,
      })
    return made
  }

  const changed = (outcome: 'done' | 'missing' | 'last_owner', login: string): void => {
    if (outcome === 'missing') throw noMember(login)
    if (outcome === 'last_owner')
      throw new Failure('status_does_not_allow', {
        message: `${login} is the last owner. Make somebody else an owner first.`,
      })
  }

  /** The login as it is kept. Throws unless somebody has it at this merchant. */
  const demandMember = async (key: { merchantId: string; login: string }): Promise<string> => {
    const login = parseEmail(key.login, 'login')
    if (!(await members.findMember({ merchantId: key.merchantId, login }))) throw noMember(login)
    return login
  }

  /** The login as it is kept. Throws where this could not be invited now. */
  const checkInvitation = async ({ merchantId, email }: Omit<Invited, 'role'>): Promise<string> => {
    const login = parseEmail(email, 'email')
    if (await members.findMember({ merchantId, login }))
      throw new Failure('number_already_used', {
        field: 'email',
        message: `${login} is a member already. Change the role instead.`,
      })
    // Each may be a mail to somebody who never heard of the merchant.
    const { most, withinMs } = invitationLimit
    if ((await links.countInvitations({ merchantId, sinceMs: clock.now() - withinMs })) >= most)
      throw new Failure('too_many_requests', {
        message: `${most} invitations were made in the last 24 hours. Try again tomorrow.`,
      })
    return login
  }

  /** The login as it is kept. Throws unless somebody at this merchant has a password under it. */
  const checkRecovery = async (key: { merchantId: string; login: string }): Promise<string> => {
    const login = await demandMember(key)
    if (!(await members.hasPassword(login)))
      throw new Failure('status_does_not_allow', {
        message: `${login} signs in at an identity provider and has no password here.`,
      })
    return login
  }

  return {
    demandMember,
    checkInvitation,
    checkRecovery,

    listMembers: async (
      merchantId: string,
    ): Promise<{ members: readonly ListedMember[]; invitations: readonly MemberLink[] }> => ({
      members: await members.listMembers({ merchantId }),
      invitations: await links.listInvitations({ merchantId, nowMs: clock.now() }),
    }),

    /** In place of an earlier invitation for the same address. */
    async inviteMember(invited: Invited, { reason, approval }: Grounds = {}): Promise<MadeLink> {
      const { merchantId, role } = invited
      const login = await checkInvitation(invited)
      return makeLink({ kind: 'invitation', login, merchantId, role }, 'member.invite', {
        reason: withReason(`as ${role}`, reason),
        approval,
      })
    },

    async withdrawInvitation(key: { merchantId: string; linkId: string }): Promise<void> {
      const { merchantId, linkId } = key
      if (!(await links.withdrawInvitation(key, act('member.withdraw-invitation', linkId, { merchantId }))))
        throw new Failure('not_found', { message: 'There is no such invitation any more.' })
    },

    async changeRole(
      given: { merchantId: string; login: string; role: MemberRole },
      { reason, approval }: Grounds = {},
    ): Promise<void> {
      const { merchantId, login, role } = given
      const grounds = { reason: withReason(`to ${role}`, reason), approval }
      const recorded = act('member.change-role', login, { ...grounds, merchantId })
      changed(await members.setRole(given, recorded), login)
    },

    async removeMember(key: { merchantId: string; login: string }): Promise<void> {
      const { merchantId, login } = key
      changed(await members.removeMember(key, act('member.remove', login, { merchantId })), login)
    },

    /** By whoever has lost theirs; the link goes to the address, and whether there is such an account is told to nobody. */
    async askRecovery(email: string): Promise<void> {
      const login = normaliseEmail(email)
      if (login === undefined || (await members.listMemberships(login)).length === 0) return
      if (!(await members.hasPassword(login))) return
      // Nobody fills another's mailbox, nor ends the link that is on its way there; also not by asking many times at once.
      const madeAfterMs = clock.now() - recoveryEveryMs
      if (await links.isRecoveryOpen({ login, madeAfterMs })) return
      const about = { kind: 'recovery', login, merchantId: undefined, role: undefined } as const
      const { link, notices } = prepareLink({ ...about, merchant: undefined }, parts)
      const recorded = act('member.recover', login, { reason: 'asked by themselves', notices })
      await links.insertRecovery(link, { madeAfterMs }, recorded)
    },

    /** A link to a new password, for the operator to hand over when somebody has lost theirs. */
    async recoverAccount(
      key: { merchantId: string; login: string },
      reason: string,
      { approval }: Pick<Grounds, 'approval'> = {},
    ): Promise<MadeLink> {
      const login = await checkRecovery(key)
      const about = { kind: 'recovery', login, merchantId: undefined, role: undefined } as const
      return makeLink(about, 'member.recover', { reason, approval })
    },
  }
}

type LinkAbout = Pick<MemberLink, 'kind' | 'login' | 'merchantId' | 'role'>

/** What is stored of a link, what is told of it, and the mail that brings it. */
export function prepareLink(
  {
    merchant,
    ...about
  }: LinkAbout & { readonly merchant: Pick<Merchant, 'name' | 'contactLanguage'> | undefined },
  parts: ActParts & Pick<ManageMembersParts, 'publicUrl' | 'makeNotices'>,
): { link: NewLink; made: MadeLink; notices: readonly NewNotice[] } {
  const { clock, random, actor, publicUrl, makeNotices } = parts
  const token = Buffer.from(random(tokenBytes)).toString('base64url')
  const nowMs = clock.now()
  const { kind, login } = about
  const expiresAtMs = nowMs + linkLifeMs[kind]
  const linkId = makeUuid(nowMs, random)
  const url = linkUrl(token, kind, publicUrl)
  const given = {
    to: { email: login, language: merchant?.contactLanguage ?? 'en' },
    link: url,
    giveUpAtMs: expiresAtMs,
    merchantId: about.merchantId,
  } as const
  const until = writtenTime(expiresAtMs)
  const notices =
    kind === 'recovery'
      ? makeNotices('member-recovery', { ...given, parameters: { until } })
      : makeNotices('member-invitation', {
          ...given,
          parameters: { merchant: merchant?.name ?? '', inviter: inviterOf(actor, publicUrl), until },
        })
  return {
    link: { ...about, linkId, tokenHash: hashToken(token), madeBy: actor, createdAtMs: nowMs, expiresAtMs },
    made: { login, link: notices.length > 0 ? undefined : url, expiresAtMs },
    notices,
  }
}

function withReason(what: string, reason: string | undefined): string {
  return reason === undefined ? what : `${what}: ${reason}`
}

/** A member by their address, others by the gateway's name. */
function inviterOf(actor: string, publicUrl: string): string {
  const [, member] = /^member:(.+)@[^@]*$/.exec(actor) ?? []
  return member ?? new URL(publicUrl).host
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function linkUrl(token: string, kind: LinkKind, publicUrl: string): string {
  return `${publicUrl}/merchant/${kind === 'invitation' ? 'join' : 'recover'}/${token}`
}

function noMember(login: string): Failure {
  return new Failure('not_found', { message: `There is no member ${login}.` })
}
