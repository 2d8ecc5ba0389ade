// The door to the demo merchant's portal: its owner, an account without a password, and its sample orders, both made when
// the portal is opened for the first time.
import { makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../core/audit/audit-entries.ts'
import { reachingAll } from '../core/authority/context.ts'
import type { AuditedAction } from '../core/authority/rules/effects.ts'
import type { MerchantDirectory } from '../core/merchants/merchant-directory.ts'
import type { Access } from '../identity/accounts/rules/account.ts'
import { hashToken } from '../identity/members/manage-members.ts'
import { linkLifeMs, maxMembers } from '../identity/members/rules/member.ts'
import type { MemberIdentities } from '../identity/members/store/member-identities.ts'
import type { MemberLinkStore } from '../identity/members/store/member-links.ts'
import type { MemberStore } from '../identity/members/store/members.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import { demoMerchantId } from './demo-merchant.ts'
import type { makeDemoOrders } from './demo-orders.ts'

export interface DemoPortalParts extends ClockAndRandom {
  readonly directory: Pick<MerchantDirectory, 'load'>
  readonly members: Pick<MemberStore, 'listMemberships'>
  readonly memberLinks: Pick<MemberLinkStore, 'insertLink' | 'join'>
  readonly memberIdentities: MemberIdentities
  readonly addOrders: ReturnType<typeof makeDemoOrders>
}

export const demoOwner = 'owner@leaf-and-cup.example'
const demoOwnerName = 'Hannah Leaf'
/** No identity provider is called like this, so that only this door leads to the account. */
const identity = 'sandbox demo-owner'
const linkTokenBytes = 32
const door = reachingAll('sandbox demo')

/** Undefined without a demo merchant, or if its owner was removed. */
export function makeOpenDemoPortal(parts: DemoPortalParts) {
  // Visitors take turns, so that the orders are added once.
  let last: Promise<unknown> = Promise.resolve()

  return (shopCallbackUrl: string | undefined): Promise<Access | undefined> => {
    const opened = last.then(() => open(parts, shopCallbackUrl))
    last = opened.catch(() => {})
    return opened
  }
}

async function open(parts: DemoPortalParts, shopCallbackUrl: string | undefined) {
  const { known } = await parts.directory.load(demoMerchantId, parts.clock.now())
  if (!known) return undefined
  const found = await parts.memberIdentities.findAccess(identity)
  const access = found ?? (await addOwner(parts))
  const memberships = access ? await parts.members.listMemberships(access.login) : []
  if (!memberships.some(({ merchantId }) => merchantId === demoMerchantId)) return undefined
  await parts.addOrders(known.merchant, shopCallbackUrl)
  return access
}

/** Creates an invitation and accepts it at once, so that no one else can open it. */
async function addOwner(parts: DemoPortalParts): Promise<Access | undefined> {
  const { memberLinks, memberIdentities, clock, random } = parts
  const nowMs = clock.now()
  const linkId = makeUuid(nowMs, random)
  const about = { linkId, merchantId: demoMerchantId, login: demoOwner, role: 'owner' } as const
  const entry = (name: AuditedAction) =>
    makeAuditEntry(parts, door, name, demoOwner, { merchantId: demoMerchantId, reason: 'sandbox demo' })
  const link = {
    ...about,
    kind: 'invitation',
    name: demoOwnerName,
    tokenHash: hashToken(Buffer.from(random(linkTokenBytes)).toString('base64url')),
    madeBy: door.actor,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + linkLifeMs.invitation,
  } as const
  if (!(await memberLinks.insertLink(link, { most: maxMembers }, entry('member.invite')))) return undefined
  const account = { login: demoOwner, linkId, identity, nowMs }
  await memberIdentities.insertAccount(account, entry('member.bind-identity'))
  const access = await memberIdentities.findAccess(identity)
  if (access) await memberLinks.join({ ...about, nowMs }, access, entry('member.join'))
  return access
}
