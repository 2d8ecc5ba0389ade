// A newcomer requests sandbox access with a name and the public half of an RSA pair, and receives a merchantId and an
// AES key. Sandbox only, with a daily limit.
import { KeyError, parsePublicKey } from '@tillgate/protocol'
import { reachingAll } from '../core/authority/context.ts'
import { normaliseEmail } from '../core/emails/rules/email.ts'
import type { MadeMerchant, ManageMerchants } from '../core/merchants/manage-merchants.ts'
import type { ManageMembers } from '../identity/members/manage-members.ts'
import type { Clock } from '../platform/runtime/clock.ts'
import { isVisible } from '../platform/runtime/visible-text.ts'
import type { SandboxAccessStore } from './store/sandbox-access.ts'

/** The actor in the audit log. */
const newcomer = reachingAll('sandbox access')
export const maxNameLength = 64
const dayMs = 24 * 60 * 60_000

export interface AccessRequest {
  readonly name: string
  readonly publicKey: string
  /** The address for signing in to the portal; empty for none. */
  readonly email: string
}

export type AccessProblem = { readonly field: 'name' | 'publicKey' | 'email'; readonly words: string }

export type Access =
  | {
      readonly kind: 'given'
      readonly made: MadeMerchant
      readonly platformPublicKey: string
      /** A one-time link to the portal. */
      readonly link: string | undefined
      /** The address to which the link was mailed instead. */
      readonly mailedTo: string | undefined
    }
  | { readonly kind: 'refused'; readonly problem: AccessProblem }
  /** The limit of the last 24 hours is reached. */
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
  // Requests take turns, so that none exceeds the limit. Several gateways may each exceed it by one.
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

/** Checked before anything is counted or created. */
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
