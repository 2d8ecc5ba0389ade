// What a merchant's owner, or an operator for them, does with the merchant's members: invite, change roles, remove. A
// link is shown once, to the person who hands it over.

import { createHash } from 'node:crypto'
import { Failure, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext, Context } from '../../core/authority/context.ts'
import type { MemberRole } from '../../core/authority/rules/roles.ts'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import { type NewEmail, normaliseEmail, parseEmail, writtenTime } from '../../core/emails/rules/email.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import { bindWithin } from '../../core/merchants/within.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { parsePersonName } from '../accounts/rules/account.ts'
import {
  invitationLimit,
  type LinkKind,
  type ListedMember,
  linkLifeMs,
  type MemberLink,
  makerOf,
  maxMembers,
  recoveryEveryMs,
} from './rules/member.ts'
import type { MemberLinkStore, NewLink } from './store/member-links.ts'
import type { MemberStore } from './store/members.ts'

export interface ManageMembersParts extends ClockAndRandom {
  readonly stores: {
    readonly members: MemberStore
    readonly links: MemberLinkStore
    readonly merchants: Pick<MerchantStore, 'findMerchant'>
  }
  readonly makeEmails: MakeEmails
  readonly publicUrl: string
  readonly operatorName: string | undefined
}

export interface MadeLink {
  readonly login: string
  /** A one-time link, shown once. Undefined if it was mailed to the address. */
  readonly link: string | undefined
  readonly expiresAtMs: number
}

export interface Invited {
  readonly merchantId: string
  readonly email: string
  readonly role: MemberRole
  readonly name?: string | undefined
}

export type ManageMembers = ReturnType<typeof makeManageMembers>

const tokenBytes = 32
const recoveryOf = { kind: 'recovery', name: undefined, merchantId: undefined, role: undefined } as const

type Parts = ManageMembersParts

export function makeManageMembers(parts: ManageMembersParts) {
  return bindWithin(parts, {
    demandMember,
    listMembers,
    inviteMember,
    withdrawInvitation,
    changeRole,
    removeMember,
    askRecovery,
    recoverAccount,
  })
}

async function listMembers(
  { stores: { members, links }, clock }: Parts,
  _context: Context,
  merchantId: string,
): Promise<{ members: readonly ListedMember[]; invitations: readonly MemberLink[] }> {
  return {
    members: await members.listMembers({ merchantId }),
    invitations: await links.listInvitations({ merchantId, nowMs: clock.now() }),
  }
}

/** Replaces an earlier invitation for the same address. */
async function inviteMember(
  parts: Parts,
  context: Context,
  invited: Invited,
  { reason }: { readonly reason?: string } = {},
): Promise<MadeLink> {
  const { merchantId, role } = invited
  const login = await checkInvitation(parts, invited)
  const name = parsePersonName(invited.name ?? '')
  return makeLink(parts, context, { kind: 'invitation', login, name, merchantId, role }, 'member.invite', {
    reason: withReason(`as ${role}`, reason),
  })
}

async function withdrawInvitation(
  parts: Parts,
  context: Context,
  key: { merchantId: string; linkId: string },
): Promise<void> {
  const { merchantId, linkId } = key
  if (
    !(await parts.stores.links.withdrawInvitation(
      key,
      makeAuditEntry(parts, context, 'member.withdraw-invitation', linkId, { merchantId }),
    ))
  )
    throw new Failure('not_found', { message: 'The invitation no longer exists.' })
}

async function changeRole(
  parts: Parts,
  context: Context,
  given: { merchantId: string; login: string; role: MemberRole },
  { reason }: { readonly reason?: string } = {},
): Promise<void> {
  const { merchantId, login, role } = given
  const recorded = makeAuditEntry(parts, context, 'member.change-role', login, {
    reason: withReason(`to ${role}`, reason),
    merchantId,
  })
  changed(await parts.stores.members.setRole(given, recorded), login)
}

async function removeMember(
  parts: Parts,
  context: Context,
  key: { merchantId: string; login: string },
): Promise<void> {
  const { merchantId, login } = key
  changed(
    await parts.stores.members.removeMember(
      key,
      makeAuditEntry(parts, context, 'member.remove', login, { merchantId }),
    ),
    login,
  )
}

/**
 * For a member who lost the password. The link goes to the address, and the response does not reveal whether the
 * account exists.
 */
async function askRecovery(parts: Parts, context: AnyContext, email: string): Promise<void> {
  const { clock } = parts
  const { members, links } = parts.stores
  const login = normaliseEmail(email)
  if (login === undefined || (await members.listMemberships(login)).length === 0) return
  if (!(await members.hasPassword(login))) return
  // The interval prevents floods of emails, and keeps a link that is on its way valid, even if requests are
  // simultaneous.
  const madeAfterMs = clock.now() - recoveryEveryMs
  if (await links.isRecoveryOpen({ login, madeAfterMs })) return
  const about = { ...recoveryOf, login } as const
  const { link, emails } = prepareLink({ ...about, merchant: undefined }, parts, context)
  const recorded = makeAuditEntry(parts, context, 'member.recover', login, {
    reason: 'asked by themselves',
    emails,
  })
  await links.insertRecovery(link, { madeAfterMs }, recorded)
}

/** A link for a new password, which the operator hands over. */
async function recoverAccount(
  parts: Parts,
  context: AnyContext,
  key: { merchantId: string; login: string },
  reason: string,
): Promise<MadeLink> {
  const login = await checkRecovery(parts, context, key)
  const about = { ...recoveryOf, login } as const
  return makeLink(parts, context, about, 'member.recover', { reason })
}

async function makeLink(
  parts: Parts,
  context: Context,
  about: LinkAbout,
  name: 'member.invite' | 'member.recover',
  grounds: { readonly reason?: string | undefined },
): Promise<MadeLink> {
  const { login, merchantId } = about
  const known = merchantId === undefined ? undefined : await parts.stores.merchants.findMerchant(merchantId)
  const { link, made, emails } = prepareLink({ ...about, merchant: known?.merchant }, parts, context)
  const recorded = makeAuditEntry(parts, context, name, login, { ...grounds, merchantId, emails })
  const inserted = await parts.stores.links.insertLink(link, { most: maxMembers }, recorded)
  if (!inserted)
    throw new Failure('status_does_not_allow', {
      message: `There are ${maxMembers} members and invitations already. Remove one first.`,
    })
  return made
}

function changed(outcome: 'done' | 'missing' | 'last_owner', login: string): void {
  if (outcome === 'missing') throw noMember(login)
  if (outcome === 'last_owner')
    throw new Failure('status_does_not_allow', {
      message: `${login} is the last owner. Make another member an owner first.`,
    })
}

/** Returns the stored form of the login. Throws unless it is a member of this merchant. */
async function demandMember(
  { stores: { members } }: Parts,
  _context: Context,
  key: { merchantId: string; login: string },
): Promise<string> {
  const login = parseEmail(key.login, 'login')
  if (!(await members.findMember({ merchantId: key.merchantId, login }))) throw noMember(login)
  return login
}

/** Returns the stored form of the login. Throws if it cannot be invited now. */
async function checkInvitation(
  { stores: { members, links }, clock }: Parts,
  { merchantId, email }: Omit<Invited, 'role'>,
): Promise<string> {
  const login = parseEmail(email, 'email')
  if (await members.findMember({ merchantId, login }))
    throw new Failure('number_already_used', {
      field: 'email',
      message: `${login} is a member already. Change the role instead.`,
    })
  // Each invitation may be an unwanted email to a stranger.
  const { most, withinMs } = invitationLimit
  if ((await links.countInvitations({ merchantId, sinceMs: clock.now() - withinMs })) >= most)
    throw new Failure('too_many_requests', {
      message: `${most} invitations were made in the last 24 hours. Try again tomorrow.`,
    })
  return login
}

/** Returns the stored form of the login. Throws unless a member of this merchant has it with a password. */
async function checkRecovery(
  parts: Parts,
  context: AnyContext,
  key: { merchantId: string; login: string },
): Promise<string> {
  const login = await demandMember(parts, context, key)
  if (!(await parts.stores.members.hasPassword(login)))
    throw new Failure('status_does_not_allow', {
      message: `${login} signs in at an identity provider and has no password here.`,
    })
  return login
}

type LinkAbout = Pick<MemberLink, 'kind' | 'login' | 'name' | 'merchantId' | 'role'>

/** The stored link, what is shown of it, and its email. */
export function prepareLink(
  {
    merchant,
    ...about
  }: LinkAbout & { readonly merchant: Pick<Merchant, 'name' | 'contactLanguage'> | undefined },
  parts: ClockAndRandom & Pick<ManageMembersParts, 'publicUrl' | 'operatorName' | 'makeEmails'>,
  { actor }: Context,
): { link: NewLink; made: MadeLink; emails: readonly NewEmail[] } {
  const { clock, random, publicUrl, makeEmails } = parts
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
  const emails =
    kind === 'recovery'
      ? makeEmails('member-recovery', { ...given, parameters: { until } })
      : makeEmails('member-invitation', {
          ...given,
          parameters: { merchant: merchant?.name ?? '', inviter: inviterOf(actor, parts), until },
        })
  return {
    link: { ...about, linkId, tokenHash: hashToken(token), madeBy: actor, createdAtMs: nowMs, expiresAtMs },
    made: { login, link: emails.length > 0 ? undefined : url, expiresAtMs },
    emails,
  }
}

function withReason(what: string, reason: string | undefined): string {
  return reason === undefined ? what : `${what}: ${reason}`
}

/** A member by their address, others by the operator's name. */
function inviterOf(
  actor: string,
  { operatorName, publicUrl }: Pick<ManageMembersParts, 'operatorName' | 'publicUrl'>,
): string {
  const maker = makerOf(actor)
  if (maker?.kind === 'member') return maker.login
  return operatorName ?? new URL(publicUrl).host
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function linkUrl(token: string, kind: LinkKind, publicUrl: string): string {
  return `${publicUrl}/merchant/${kind === 'invitation' ? 'join' : 'recover'}/${token}`
}

function noMember(login: string): Failure {
  return new Failure('not_found', { message: `Member ${login} does not exist.` })
}
