// Applications for live keys: list, ask, approve, reject.

import { effectsOfActions } from '../../core/audit/rules/effects.ts'
import {
  type Application,
  applicationLimits,
  applicationStatuses,
} from '../../identity/applications/rules/application.ts'
import { type Action, defineAction, form } from '../action.ts'
import {
  displayed,
  list,
  longText,
  object,
  oneOf,
  optional,
  text,
  timeMs,
  visibleCharacters,
} from '../fields.ts'
import { limit, merchantId, nextPage, pageOf, reason, uuid } from '../shared-fields.ts'

const key = object('Which application.', { applicationId: uuid('The application’s number.') })
const page = '/applications/:applicationId'
const application = {
  applicationId: uuid('Its number.'),
  status: oneOf('asked: the applicant is to answer.', applicationStatuses),
  business: text('As consumers will read it.', { max: 256 }),
  contact: text('Whom to speak to.', { max: 256 }),
  email: text('Of the first member.', { max: 254 }),
  website: text('Where it sells.', { max: 512 }),
  about: text('What it sells.', { max: applicationLimits.about }),
  callbackHosts: optional(list('The only hosts that callbacks may go to.', text('A host.', { max: 260 }))),
  publicKey: longText('As PEM.', { max: 16_384 }),
  question: optional(text('What was asked.', { max: applicationLimits.answer })),
  answer: optional(text('What was answered.', { max: applicationLimits.answer })),
  reason: optional(text('Why it was rejected.', { max: 256 })),
  merchantId: optional(merchantId),
  createdAtMs: timeMs('When it came.'),
}
const isOpen = ({ status }: Application) => status === 'waiting' || status === 'asked'

export const applicationActions: readonly Action[] = [
  defineAction({
    name: 'application.list',
    scope: 'merchants:read',
    summary: 'List applications for live keys, newest first',
    input: object('Which ones.', {
      status: optional(oneOf('Of this status.', applicationStatuses)),
      before: optional(uuid('Only what is older than this application.')),
      limit,
    }),
    answer: object('A page.', {
      applications: list('The newest first.', object('An application.', application)),
      older: optional(uuid(nextPage)),
    }),
    command: {
      columns: ['applicationId', 'status', 'business', 'email', 'createdAtMs'],
    },
    run: ({ operations, context, input: { status, ...wanted } }) =>
      pageOf('applications', wanted, {
        read: (asked) => operations.applications.listApplications(context, { status }, asked),
        keyOf: ({ applicationId }) => applicationId,
      }),
  }),
  defineAction({
    name: 'application.approve',
    // The merchant is new and has no money yet, but the applicant's key and first member remain valid when it has.
    effects: effectsOfActions['member.invite'],
    needs: 'admin',
    summary: 'Approve an application. The link to the first password is shown only once',
    params: key,
    answer: object('The merchant, and the link.', {
      merchantId,
      login: text('The first member.', { max: 254 }),
      link: optional(text('Opens once; told this once. Left out where it went by mail.', { max: 2_048 })),
      expiresAtMs: timeMs('Until when.'),
    }),
    form: form<Application>({
      place: 'application',
      page,
      label: 'Approve…',
      explains: ({ business, email }) =>
        `${business} becomes a merchant with the public key below. ${email} chooses a password by a link that is shown to you once and that the applicant’s own page offers too; the AES key is shown to them alone.`,
      button: 'Approve',
      isOffered: isOpen,
      wantsProof: true,
    }),
    async run({ operations, context, params, prove }) {
      await prove?.()
      return operations.applications.approve(context, params.applicationId)
    },
    tell: ({ merchantId: id, login, link }) => ({
      text: `The application is approved: merchant ${id}. ${link === undefined ? `${login} has a link by mail` : `Hand this link over to ${login}`}; their application’s page offers one too.`,
      ...(link !== undefined && { secrets: [['Link', link]] }),
      page: `/merchants/${id}`,
    }),
  }),
  defineAction({
    name: 'application.reject',
    needs: 'admin',
    summary: 'Reject an application with a reason for the applicant',
    params: key,
    input: object('Why.', {
      reason: displayed(reason, { label: 'Reason, for the applicant and the audit' }),
    }),
    answer: object('The application.', { applicationId: uuid('Its number.') }),
    form: form<Application>({
      place: 'application',
      page,
      label: 'Reject…',
      explains: 'It is closed for good. The applicant reads the reason, as it is written here.',
      button: 'Reject',
      isDangerous: true,
      isOffered: isOpen,
    }),
    async run({ operations, context, params, input }) {
      await operations.applications.reject(context, params.applicationId, input.reason)
      return params
    },
    tell: () => ({ text: 'The application is rejected.' }),
  }),
  defineAction({
    name: 'application.ask',
    needs: 'admin',
    summary: 'Ask the applicant a question',
    params: key,
    input: object('What.', {
      question: text('As the applicant reads it.', {
        max: applicationLimits.answer,
        pattern: visibleCharacters,
      }),
    }),
    answer: object('The application.', { applicationId: uuid('Its number.') }),
    form: form<Application>({
      place: 'application',
      page,
      label: 'Ask…',
      explains: 'The applicant reads the question on their application’s page and answers it there.',
      button: 'Ask',
      isOffered: isOpen,
    }),
    async run({ operations, context, params, input }) {
      await operations.applications.ask(context, params.applicationId, input.question)
      return params
    },
    tell: () => ({ text: 'The question is asked.' }),
  }),
]
