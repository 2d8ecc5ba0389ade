// A newcomer signs on by itself: a name and the public half of an RSA pair in, a merchantId and an AES key out. In the
// sandbox alone, and so many a day at most.
import { KeyError, parsePublicKey } from '@tillgate/protocol'
import { reachingAll } from '../core/audit/context.ts'
import { normaliseEmail } from '../core/emails/rules/email.ts'
import type { MadeMerchant, ManageMerchants } from '../core/merchants/manage-merchants.ts'
import type { ManageMembers } from '../identity/members/manage-members.ts'
import type { Clock } from '../platform/runtime/clock.ts'
import { isVisible } from '../platform/runtime/visible-text.ts'
import type { SandboxAccessStore } from './store/sandbox-access.ts'

/** Who signs newcomers on, in the record of actions. */
const newcomer = reachingAll('sandbox access')
export const maxNameLength = 64
const dayMs = 24 * 60 * 60_000

export interface AccessRequest {
  readonly name: string
  readonly publicKey: string
  /** Of whoever is to sign in to the portal; empty: nobody, for now. */
  readonly email: string
}

export type AccessProblem = { readonly field: 'name' | 'publicKey' | 'email'; readonly words: string }

export type Access =
  | {
      readonly kind: 'given'
      readonly made: MadeMerchant
      readonly platformPublicKey: string
      /** To the portal, for the one who asked; it opens once. */
      readonly link: string | undefined
      /** Where it went by mail instead. */
      readonly mailedTo: string | undefined
    }
  | { readonly kind: 'refused'; readonly problem: AccessProblem }
  /** So many came in the last 24 hours that nobody else is taken on for now. */
  | { readonly kind: 'too_many' }

export interface SandboxAccessParts {
  readonly merchants: Pick<ManageMerchants, 'addMerchant'>
  readonly members: Pick<ManageMembers, 'inviteMember'>
  readonly access: SandboxAccessStore
  readonly platformPublicKey: () => Promise<string>
  readonly maxPerDay: number
  readonly clock: Clock
}

export function makeSandboxAccess(parts: SandboxAccessParts) {
  // One after the other: of many at once none slips past the count. Several gateways may each let one slip.
  let last: Promise<unknown> = Promise.resolve()

  return (request: AccessRequest): Promise<Access> => {
    const problem = problemOf(request)
    if (problem) return Promise.resolve({ kind: 'refused', problem })
    const given = last.then(() => give(request))
    last = given.catch(() => {})
    return given
  }

  async function give({ name, publicKey, email }: AccessRequest): Promise<Access> {
    const sinceMs = parts.clock.now() - dayMs
    const count = await parts.access.countMerchantsAddedBy({ actor: newcomer.actor, sinceMs })
    if (count >= parts.maxPerDay) return { kind: 'too_many' }
    const made = await parts.merchants.addMerchant(newcomer, {
      name: name.trim(),
      publicKey,
      isSelfRegistered: true,
    })
    const { merchantId } = made.merchant
    const invited =
      email === ''
        ? undefined
        : await parts.members.inviteMember(newcomer, { merchantId, email, role: 'owner' })
    const platformPublicKey = await parts.platformPublicKey()
    return {
      kind: 'given',
      made,
      platformPublicKey,
      link: invited?.link,
      mailedTo: invited && !invited.link ? invited.login : undefined,
    }
  }
}

export type SandboxAccess = ReturnType<typeof makeSandboxAccess>

/** Checked before anything is counted or made. */
function problemOf({ name, publicKey, email }: AccessRequest): AccessProblem | undefined {
  const trimmed = name.trim()
  if (trimmed === '') return { field: 'name', words: 'Give your shop a name.' }
  if ([...trimmed].length > maxNameLength || !isVisible(trimmed)) {
    return {
      field: 'name',
      words: `A name has at most ${maxNameLength} characters, all of which can be seen.`,
    }
  }
  if (email !== '' && normaliseEmail(email) === undefined)
    return { field: 'email', words: 'The e-mail address must be like name@shop.example.' }
  try {
    parsePublicKey(publicKey)
    return undefined
  } catch (error) {
    if (!(error instanceof KeyError)) throw error
    const words = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
    return { field: 'publicKey', words }
  }
}
