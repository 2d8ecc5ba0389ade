// What a merchant's owner, or an operator for them, does with the merchant's people: invites them, changes their roles,
// lets them go. A link is told once, to whoever hands it over.
import { createHash } from 'node:crypto'
import { Failure, makeUuid } from '@tillgate/protocol'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import {
  type LinkKind,
  type ListedMember,
  linkLifeMs,
  type MemberLink,
  type MemberRole,
  maxMembers,
  parseEmail,
} from './rules/member.ts'
import type { MemberLinkStore, NewLink } from './store/member-links.ts'
import type { MemberStore } from './store/members.ts'

export interface ManageMembersParts extends ActParts {
  readonly members: MemberStore
  readonly links: MemberLinkStore
  readonly publicUrl: string
}

export interface MadeLink {
  readonly login: string
  /** Opens once, and is told once. */
  readonly link: string
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

  const makeLink = async (about: LinkAbout, name: string, reason: string | undefined): Promise<MadeLink> => {
    const { link, made } = prepareLink(about, parts)
    const { login, merchantId } = about
    const recorded = act(name, login, { merchantId, reason })
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

  return {
    listMembers: async (
      merchantId: string,
    ): Promise<{ members: readonly ListedMember[]; invitations: readonly MemberLink[] }> => ({
      members: await members.listMembers({ merchantId }),
      invitations: await links.listInvitations({ merchantId, nowMs: clock.now() }),
    }),

    /** In place of an earlier invitation for the same address. */
    async inviteMember({ merchantId, email, role }: Invited): Promise<MadeLink> {
      const login = parseEmail(email)
      if (await members.findMember({ merchantId, login }))
        throw new Failure('number_already_used', {
          field: 'email',
          message: `${login} is a member already. Change the role instead.`,
        })
      return makeLink({ kind: 'invitation', login, merchantId, role }, 'member.invite', `as ${role}`)
    },

    async withdrawInvitation(key: { merchantId: string; linkId: string }): Promise<void> {
      const { merchantId, linkId } = key
      if (!(await links.withdrawInvitation(key, act('member.withdraw-invitation', linkId, { merchantId }))))
        throw new Failure('not_found', { message: 'There is no such invitation any more.' })
    },

    async changeRole(given: { merchantId: string; login: string; role: MemberRole }): Promise<void> {
      const { merchantId, login, role } = given
      const recorded = act('member.change-role', login, { merchantId, reason: `to ${role}` })
      changed(await members.setRole(given, recorded), login)
    },

    async removeMember(key: { merchantId: string; login: string }): Promise<void> {
      const { merchantId, login } = key
      changed(await members.removeMember(key, act('member.remove', login, { merchantId })), login)
    },

    /** A link to a new password, for the operator to hand over when somebody has lost theirs. */
    async recoverAccount(
      { merchantId, login: given }: { merchantId: string; login: string },
      reason: string,
    ): Promise<MadeLink> {
      const login = parseEmail(given)
      if (!(await members.findMember({ merchantId, login }))) throw noMember(login)
      const about = { kind: 'recovery', login, merchantId: undefined, role: undefined } as const
      return makeLink(about, 'member.recover', reason)
    },
  }
}

type LinkAbout = Pick<MemberLink, 'kind' | 'login' | 'merchantId' | 'role'>

/** What is stored of a link, and what is told of it. */
export function prepareLink(
  about: LinkAbout,
  { clock, random, actor, publicUrl }: ActParts & { readonly publicUrl: string },
): { link: NewLink; made: MadeLink } {
  const token = Buffer.from(random(tokenBytes)).toString('base64url')
  const nowMs = clock.now()
  const { kind, login } = about
  const expiresAtMs = nowMs + linkLifeMs[kind]
  const linkId = makeUuid(nowMs, random)
  return {
    link: { ...about, linkId, tokenHash: hashToken(token), madeBy: actor, createdAtMs: nowMs, expiresAtMs },
    made: { login, link: linkUrl(token, kind, publicUrl), expiresAtMs },
  }
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
