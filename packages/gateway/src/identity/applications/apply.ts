// What an applicant does: apply, see the status by a private link, answer the operators' questions, and choose a
// password after approval.
import { Failure, KeyError, makeUuid, parsePublicKey } from '@tillgate/protocol'
import { reachingAll } from '../../core/authority/context.ts'
import { parseEmail } from '../../core/emails/rules/email.ts'
import { checkHosts } from '../../core/merchants/rules/merchant.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { parseLine } from '../../platform/runtime/visible-text.ts'
import { hashToken, type MadeLink, type ManageMembers } from '../members/manage-members.ts'
import { type Application, applicationLimits, maxWaiting } from './rules/application.ts'
import type { ApplicationStore } from './store/applications.ts'

export interface ApplyParts extends ClockAndRandom {
  readonly applications: ApplicationStore
  readonly members: Pick<ManageMembers, 'inviteMember' | 'listMembers'>
  readonly merchants: Pick<MerchantStore, 'findMerchant'>
}

export interface Applied {
  readonly business: string
  readonly contact: string
  readonly email: string
  readonly website: string
  readonly about: string
  /** Separated by commas; empty for any host. */
  readonly callbackHosts: string
  readonly publicKey: string
}

export type Apply = ReturnType<typeof makeApply>

const applicant = reachingAll('applicant')
const tokenBytes = 32
const tokenPattern = /^[\w-]{43}$/
const maxHosts = 100

export function makeApply({ applications, members, merchants, clock, random }: ApplyParts) {
  const find = async (token: string): Promise<Application | undefined> =>
    tokenPattern.test(token) ? applications.findByToken(hashToken(token)) : undefined

  /** Approved, without a member yet, and the merchant is not suspended. */
  const isOpen = async ({ merchantId }: Application): Promise<boolean> => {
    if (merchantId === undefined) return false
    const known = await merchants.findMerchant(merchantId)
    if (known?.merchant.status !== 'active') return false
    return (await members.listMembers(applicant, merchantId)).members.length === 0
  }

  return {
    /** Returns the token of the applicant's link. Throws every problem that the applicant can fix, by field. */
    async apply(given: Applied): Promise<string> {
      const application = read(given)
      const token = Buffer.from(random(tokenBytes)).toString('base64url')
      const nowMs = clock.now()
      const inserted = await applications.insertApplication(
        {
          ...application,
          applicationId: makeUuid(nowMs, random),
          status: 'waiting',
          question: undefined,
          answer: undefined,
          decidedBy: undefined,
          reason: undefined,
          merchantId: undefined,
          createdAtMs: nowMs,
          changedAtMs: nowMs,
        },
        hashToken(token),
        { most: maxWaiting },
      )
      if (inserted) return token
      throw new Failure('too_many_requests', {
        message: 'Too many applications are waiting for review. Try again tomorrow.',
      })
    },

    find,

    async answer(token: string, text: string): Promise<void> {
      const application = await find(token)
      const answer = parseLine(oneLine(text), 'answer', { max: applicationLimits.answer })
      const isDone =
        application !== undefined &&
        (await applications.answer({ ...application, answer, nowMs: clock.now() }))
      if (!isDone) throw new Failure('status_does_not_allow', { message: 'There is no open question.' })
    },

    /** A new link for the first member to choose a password; undefined if no longer available. */
    async firstLink(application: Application): Promise<MadeLink | undefined> {
      const { merchantId, email } = application
      if (merchantId === undefined || !(await isOpen(application))) return undefined
      return members.inviteMember(applicant, { merchantId, email, role: 'owner' })
    },

    isOpen,
  }
}

/** Throws all problems at once. */
function read(given: Applied) {
  const errors: Failure[] = []
  const attempt = <Value>(field: string, parse: () => Value): Value | undefined => {
    try {
      return parse()
    } catch (error) {
      if (error instanceof KeyError)
        errors.push(new Failure('invalid_field', { field, message: error.message }))
      else if (error instanceof Failure) errors.push(error)
      else throw error
      return undefined
    }
  }
  const line = (field: 'business' | 'contact' | 'about', max: number) =>
    attempt(field, () => parseLine(oneLine(given[field]), field, { max })) ?? ''
  const application = {
    business: line('business', applicationLimits.line),
    contact: line('contact', applicationLimits.line),
    email: attempt('email', () => parseEmail(given.email, 'email')) ?? '',
    website: attempt('website', () => parseWebsite(given.website)) ?? '',
    about: line('about', applicationLimits.about),
    callbackHosts: attempt('callbackHosts', () => parseHosts(given.callbackHosts)),
    publicKey:
      attempt('publicKey', () =>
        parsePublicKey(given.publicKey).export({ type: 'spki', format: 'pem' }).toString(),
      ) ?? '',
  }
  if (errors.length > 0) throw new ApplicationProblems(errors)
  return application
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** Every problem of an application, by field. */
export class ApplicationProblems extends Error {
  override readonly name = 'ApplicationProblems'
  readonly problems: readonly Failure[]

  constructor(problems: readonly Failure[]) {
    super('the application has problems')
    this.problems = problems
  }
}

function parseWebsite(text: string): string {
  const written = text.trim()
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url && /^https?:$/.test(url.protocol) && written.length <= applicationLimits.website) return url.href
  throw new Failure('invalid_field', {
    field: 'website',
    message: 'The website must be an address such as https://shop.example.',
  })
}

function parseHosts(text: string): readonly string[] | undefined {
  const hosts = text
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '')
  if (hosts.length <= maxHosts) return hosts.length === 0 ? undefined : checkHosts(hosts)
  throw new Failure('invalid_field', {
    field: 'callbackHosts',
    message: `Enter at most ${maxHosts} hosts, separated by commas.`,
  })
}
