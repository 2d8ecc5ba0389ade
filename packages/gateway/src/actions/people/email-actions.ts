// Emails: list with their results, and resend failed ones.

import { type Email, emailStates, isRetryable } from '../../core/emails/rules/email.ts'
import { emailKinds } from '../../core/emails/rules/kinds.ts'
import { type Action, defineAction, form } from '../action.ts'
import { count, described, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { limit, merchantId, nextPage, pageOf, reason, uuid } from '../shared-fields.ts'

const emailId = uuid('The email’s ID.')
const page = '/emails'

export const emailActions: readonly Action[] = [
  defineAction({
    name: 'email.list',
    scope: 'emails:read',
    summary: 'List emails and their results, newest first',
    input: object('The filter.', {
      state: optional(oneOf('Only emails in this state.', emailStates)),
      before: optional(described('Only emails older than this one.', emailId)),
      limit,
    }),
    answer: object('A page.', {
      emails: list(
        'Newest first.',
        object('An email.', {
          emailId,
          // Safe: these are its own keys.
          kind: oneOf('The kind of email.', Object.keys(emailKinds)),
          merchantId: optional(merchantId),
          recipient: optional(
            text('The address; absent before it is known and after it was erased.', { max: 254 }),
          ),
          state: oneOf('refused: cannot be sent. given_up: not sent in time.', emailStates),
          attempts: count('Number of attempts.'),
          createdAtMs: timeMs('Time of creation.'),
          dueAtMs: optional(timeMs('Time of the next attempt.')),
          endedAtMs: optional(timeMs('When it ended.')),
          lastError: optional(text('The mail server’s response, or the connection error.', { max: 300 })),
        }),
      ),
      older: optional(text(nextPage, { max: 36 })),
    }),
    command: {
      columns: ['emailId', 'kind', 'recipient', 'state', 'attempts', 'lastError'],
    },
    run: ({ operations, context, input }) =>
      pageOf('emails', input, {
        read: (wanted) => operations.emails.listEmails(context, { state: input.state }, wanted),
        keyOf: (each) => each.emailId,
      }),
  }),
  defineAction({
    name: 'email.retry',
    scope: 'emails:act',
    summary: 'Resend a failed email',
    params: object('Which email.', { emailId }),
    input: object('The reason.', { reason }),
    answer: object('The email.', { emailId }),
    form: form<Email>({
      place: 'email',
      path: '/emails/:emailId/retry',
      page,
      label: 'Resend…',
      explains: 'The email is sent within seconds, and retried for three more days.',
      button: 'Resend',
      isOffered: isRetryable,
    }),
    async run({ operations, context, params, input }) {
      await operations.emails.retryEmail(context, params.emailId, input.reason)
      return params
    },
    reply: () => ({ text: 'The email will be resent.' }),
  }),
]
