// Applications for live keys: list, ask, approve, reject.

import { effectsOfActions } from '../../core/authority/rules/effects.ts'
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

const key = object('Which application.', { applicationId: uuid('The application’s ID.') })
const page = '/applications/:applicationId'
const application = {
  applicationId: uuid('The application’s ID.'),
  status: oneOf('asked: the applicant must answer a question.', applicationStatuses),
  business: text('As shown to consumers.', { max: 256 }),
  contact: text('The contact person.', { max: 256 }),
  email: text('The first member’s email address.', { max: 254 }),
  website: text('The shop’s website.', { max: 512 }),
  about: text('What the business sells.', { max: applicationLimits.about }),
  callbackHosts: optional(list('The only allowed hosts for callbacks.', text('A host.', { max: 260 }))),
  publicKey: longText('As PEM.', { max: 16_384 }),
  question: optional(text('The question.', { max: applicationLimits.answer })),
  answer: optional(text('The answer.', { max: applicationLimits.answer })),
  reason: optional(text('The reason of a rejection.', { max: 256 })),
  merchantId: optional(merchantId),
  createdAtMs: timeMs('When it was submitted.'),
}
const isOpen = ({ status }: Application) => status === 'waiting' || status === 'asked'

export const applicationActions: readonly Action[] = [
  defineAction({
    name: 'application.list',
    scope: 'merchants:read',
    summary: 'List applications for live keys, newest first',
    input: object('The filter.', {
      status: optional(oneOf('Only with this status.', applicationStatuses)),
      before: optional(uuid('Only applications older than this one.')),
      limit,
    }),
    answer: object('A page.', {
      applications: list('Newest first.', object('An application.', application)),
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
    summary: 'Approve an application. The link for setting the first password is shown only once',
    params: key,
    answer: object('The merchant, and the link.', {
      merchantId,
      login: text('The first member’s login.', { max: 254 }),
      link: optional(
        text('A one-time link, shown only once. Absent if it was sent by email.', { max: 2_048 }),
      ),
      expiresAtMs: timeMs('Time of expiry.'),
    }),
    form: form<Application>({
      place: 'application',
      page,
      label: 'Approve…',
      explains: ({ business, email }) =>
        `${business} becomes a merchant with the public key below. ${email} sets a password with a one-time link, which is shown to you once and also on the application page. The AES key is shown only to the first member.`,
      button: 'Approve',
      isOffered: isOpen,
      needsConfirmation: true,
    }),
    run: ({ operations, context, params }) => operations.applications.approve(context, params.applicationId),
    reply: ({ merchantId: id, login, link }) => ({
      text: `The application is approved: merchant ${id}. ${link === undefined ? `${login} received the link by email` : `Send this link to ${login}`}; the applicant’s page also has one.`,
      ...(link !== undefined && { secrets: [['Link', link]] }),
      page: `/merchants/${id}`,
    }),
  }),
  defineAction({
    name: 'application.reject',
    needs: 'admin',
    summary: 'Reject an application with a reason for the applicant',
    params: key,
    input: object('The reason.', {
      reason: displayed(reason, { label: 'Reason (shown to the applicant)' }),
    }),
    answer: object('The application.', { applicationId: uuid('The application’s ID.') }),
    form: form<Application>({
      place: 'application',
      page,
      label: 'Reject…',
      explains: 'The application is closed permanently. The applicant sees your reason.',
      button: 'Reject',
      isDangerous: true,
      isOffered: isOpen,
    }),
    async run({ operations, context, params, input }) {
      await operations.applications.reject(context, params.applicationId, input.reason)
      return params
    },
    reply: () => ({ text: 'The application is rejected.' }),
  }),
  defineAction({
    name: 'application.ask',
    needs: 'admin',
    summary: 'Ask the applicant a question',
    params: key,
    input: object('The question.', {
      question: text('As shown to the applicant.', {
        max: applicationLimits.answer,
        pattern: visibleCharacters,
      }),
    }),
    answer: object('The application.', { applicationId: uuid('The application’s ID.') }),
    form: form<Application>({
      place: 'application',
      page,
      label: 'Ask…',
      explains: 'The applicant sees the question on the application’s page and answers it there.',
      button: 'Ask',
      isOffered: isOpen,
    }),
    async run({ operations, context, params, input }) {
      await operations.applications.ask(context, params.applicationId, input.question)
      return params
    },
    reply: () => ({ text: 'The question was sent.' }),
  }),
]
