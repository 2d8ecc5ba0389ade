// What operators do with applications: ask, reject with a reason, approve. An approval creates the merchant with its
// public key. The AES key is created when the first member signs in and is shown only to that member.

import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import { makeMerchantId, newMerchant } from '../../core/merchants/rules/merchant.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { type MadeLink, prepareLink } from '../members/manage-members.ts'
import { type Application, type ApplicationStatus, checkOpen } from './rules/application.ts'
import type { ApplicationStore } from './store/applications.ts'

export interface DecideApplicationsParts extends ClockAndRandom {
  readonly applications: ApplicationStore
  readonly publicUrl: string
  readonly operatorName: string | undefined
  readonly makeEmails: MakeEmails
}

export type DecideApplications = ReturnType<typeof makeDecideApplications>

export function makeDecideApplications(parts: DecideApplicationsParts) {
  return bindAll(parts, {
    findApplication: (bound, _context: AnyContext, applicationId: string) => find(bound, applicationId),
    listApplications: (
      { applications },
      _context: AnyContext,
      filter: { status?: ApplicationStatus | undefined },
      page: { before?: string | undefined; limit: number },
    ) => applications.listApplications(filter, page),
    countWaiting: ({ applications }, _context: AnyContext) => applications.countWaiting(),
    approve,
    reject,
    ask,
  })
}

async function approve(
  parts: DecideApplicationsParts,
  context: AnyContext,
  applicationId: string,
): Promise<MadeLink & { merchantId: string }> {
  const application = await findOpen(parts, applicationId)
  const nowMs = parts.clock.now()
  const merchantId = makeMerchantId(parts.random)
  const { business, contact, email, callbackHosts, publicKey } = application
  const { link, made, emails } = prepareLink(
    {
      kind: 'invitation',
      login: email,
      name: contact,
      merchantId,
      role: 'owner',
      merchant: { name: business, contactLanguage: undefined },
    },
    parts,
    context,
  )
  const keyId = makeUuid(nowMs, parts.random)
  const approved = await parts.applications.approve(
    decision(parts, context, applicationId),
    {
      merchant: newMerchant({
        merchantId,
        name: business,
        callbackHosts,
        contactEmails: [email],
        createdAtMs: nowMs,
      }),
      keys: [{ merchantId, keyId, kind: 'rsa', publicKey, createdAtMs: nowMs, revokedAtMs: undefined }],
      link,
    },
    [
      makeAuditEntry(parts, context, 'application.approve', applicationId, { merchantId }),
      // The owner is invited below.
      makeAuditEntry(parts, context, 'merchant.add', merchantId, {
        merchantId,
        reason: 'an application',
        effects: [],
      }),
      makeAuditEntry(parts, context, 'member.invite', email, { merchantId, reason: 'as owner', emails }),
    ],
  )
  if (!approved) throw decidedAlready()
  return { ...made, merchantId }
}

async function reject(
  parts: DecideApplicationsParts,
  context: AnyContext,
  applicationId: string,
  reason: string,
): Promise<void> {
  const { business, email } = await findOpen(parts, applicationId)
  const to = { email, language: 'en' } as const
  const emails = parts.makeEmails('application-rejected', { to, parameters: { business, reason } })
  const entry = makeAuditEntry(parts, context, 'application.reject', applicationId, { reason, emails })
  const rejecting = decision(parts, context, applicationId)
  if (!(await parts.applications.reject(rejecting, reason, entry))) throw decidedAlready()
}

async function ask(
  parts: DecideApplicationsParts,
  context: AnyContext,
  applicationId: string,
  question: string,
): Promise<void> {
  const { business, email } = await findOpen(parts, applicationId)
  const to = { email, language: 'en' } as const
  const emails = parts.makeEmails('application-question', { to, parameters: { business, question } })
  const entry = makeAuditEntry(parts, context, 'application.ask', applicationId, { reason: question, emails })
  const asking = decision(parts, context, applicationId)
  if (!(await parts.applications.ask(asking, question, entry))) throw decidedAlready()
}

async function findOpen(parts: DecideApplicationsParts, applicationId: string): Promise<Application> {
  const found = await find(parts, applicationId)
  checkOpen(found)
  return found
}

async function find({ applications }: DecideApplicationsParts, applicationId: string): Promise<Application> {
  const found = uuidPattern.test(applicationId)
    ? await applications.findApplication(applicationId)
    : undefined
  if (found) return found
  throw new Failure('not_found', { message: `Application ${applicationId} does not exist.` })
}

function decision({ clock }: DecideApplicationsParts, { actor }: AnyContext, applicationId: string) {
  return { applicationId, nowMs: clock.now(), by: actor }
}

function decidedAlready(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'Another operator has already decided this application.',
  })
}
