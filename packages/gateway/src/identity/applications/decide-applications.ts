// What operators do with applications: ask, reject with a reason, approve. An approval creates the merchant with its
// public key. The AES key is created when the first member signs in and is shown only to that member.

import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type AnyContext, reading } from '../../core/audit/context.ts'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import { makeMerchantId, newMerchant } from '../../core/merchants/rules/merchant.ts'
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
  const { applications, makeEmails, clock, random } = parts

  const findOpen = async (applicationId: string): Promise<Application> => {
    const found = await find(applicationId)
    checkOpen(found)
    return found
  }

  const find = async (applicationId: string): Promise<Application> => {
    const found = uuidPattern.test(applicationId)
      ? await applications.findApplication(applicationId)
      : undefined
    if (found) return found
    throw new Failure('not_found', { message: `There is no application ${applicationId}.` })
  }

  const decision = ({ actor }: AnyContext, applicationId: string) => ({
    applicationId,
    nowMs: clock.now(),
    by: actor,
  })

  return {
    findApplication: reading(find),
    listApplications: (
      _context: AnyContext,
      filter: { status?: ApplicationStatus | undefined },
      page: { before?: string | undefined; limit: number },
    ) => applications.listApplications(filter, page),
    countWaiting: (_context: AnyContext) => applications.countWaiting(),

    async approve(context: AnyContext, applicationId: string): Promise<MadeLink & { merchantId: string }> {
      const application = await findOpen(applicationId)
      const nowMs = clock.now()
      const merchantId = makeMerchantId(random)
      const { business, email, callbackHosts, publicKey } = application
      const { link, made, emails } = prepareLink(
        {
          kind: 'invitation',
          login: email,
          merchantId,
          role: 'owner',
          merchant: { name: business, contactLanguage: undefined },
        },
        parts,
        context,
      )
      const keyId = makeUuid(nowMs, random)
      const approved = await applications.approve(
        decision(context, applicationId),
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
    },

    async reject(context: AnyContext, applicationId: string, reason: string): Promise<void> {
      const { business, email } = await findOpen(applicationId)
      const to = { email, language: 'en' } as const
      const emails = makeEmails('application-rejected', { to, parameters: { business, reason } })
      const recorded = makeAuditEntry(parts, context, 'application.reject', applicationId, {
        reason,
        emails,
      })
      if (!(await applications.reject(decision(context, applicationId), reason, recorded)))
        throw decidedAlready()
    },

    async ask(context: AnyContext, applicationId: string, question: string): Promise<void> {
      const { business, email } = await findOpen(applicationId)
      const to = { email, language: 'en' } as const
      const emails = makeEmails('application-question', { to, parameters: { business, question } })
      const recorded = makeAuditEntry(parts, context, 'application.ask', applicationId, {
        reason: question,
        emails,
      })
      if (!(await applications.ask(decision(context, applicationId), question, recorded)))
        throw decidedAlready()
    },
  }
}

function decidedAlready(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'Another operator has already decided this application.',
  })
}
