// Emails: list with their results, and resend failed ones.

import { type Email, emailStates, isRetryable } from '../../core/emails/rules/email.ts'
import { emailKinds } from '../../core/emails/rules/kinds.ts'
import { type Action, defineAction, form } from '../action.ts'
import { count, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { limit, merchantId, nextPage, pageOf, reason, uuid } from '../shared-fields.ts'

const emailId = uuid('The email’s number.')
const page = '/emails'

export const emailActions: readonly Action[] = [
  defineAction({
    name: 'email.list',
    scope: 'emails:read',
    summary: 'List emails and their results, newest first',
    input: object('Which ones.', {
      state: optional(oneOf('Only these.', emailStates)),
      before: optional(emailId),
      limit,
    }),
    answer: object('A page.', {
      emails: list(
        'The newest first.',
        object('An email.', {
          emailId,
          // Safe: these are its own keys.
          kind: oneOf('What it tells of.', Object.keys(emailKinds)),
          merchantId: optional(merchantId),
          recipient: optional(
            text('The address; not there before it is known, or when it is forgotten.', { max: 254 }),
          ),
          state: oneOf('refused: never to be sent. given_up: not sent in time.', emailStates),
          attempts: count('Those that were begun.'),
          createdAtMs: timeMs('Since when.'),
          dueAtMs: optional(timeMs('When it is tried next.')),
          endedAtMs: optional(timeMs('When it ended.')),
          lastError: optional(text('What the mail server said, or why it was not reached.', { max: 300 })),
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
    summary: 'Retry a failed email',
    params: object('Which email.', { emailId }),
    input: object('Why.', { reason }),
    answer: object('The email.', { emailId }),
    form: form<Email>({
      place: 'email',
      path: '/emails/:emailId/retry',
      page,
      label: 'Send again…',
      explains: 'It is sent within seconds, and tried for three days more.',
      button: 'Send it again',
      isOffered: isRetryable,
    }),
    async run({ operations, context, params, input }) {
      await operations.emails.retryEmail(context, params.emailId, input.reason)
      return params
    },
    tell: () => ({ text: 'The email is sent again.' }),
  }),
]
