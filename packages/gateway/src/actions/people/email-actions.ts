// Notices by mail: what became of them, and those that failed sent again.

import { emailStates, isRetryable, type Notice } from '../../core/emails/rules/email.ts'
import { emailKinds } from '../../core/emails/rules/kinds.ts'
import { type Action, defineAction, form } from '../action.ts'
import { count, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { limit, merchantId, nextPage, pageOf, reason, uuid } from '../shared-fields.ts'

const noticeId = uuid('The notice’s number.')
const page = '/notices'

export const emailActions: readonly Action[] = [
  defineAction({
    name: 'notice.list',
    api: { method: 'GET', path: '/notices', id: 'listEmails' },
    scope: 'notices:read',
    summary: 'List emails and their results, newest first',
    input: object('Which ones.', {
      state: optional(oneOf('Only these.', emailStates)),
      before: optional(noticeId),
      limit,
    }),
    answer: object('A page.', {
      notices: list(
        'The newest first.',
        object('A notice.', {
          noticeId,
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
      words: 'notice list',
      columns: ['noticeId', 'kind', 'recipient', 'state', 'attempts', 'lastError'],
    },
    run: ({ operations, context, input }) =>
      pageOf('notices', input, {
        read: (wanted) => operations.notices.listEmails(context, { state: input.state }, wanted),
        keyOf: (each) => each.noticeId,
      }),
  }),
  defineAction({
    name: 'notice.retry',
    api: { method: 'POST', path: '/notices/:noticeId/retry', id: 'retryEmail' },
    scope: 'notices:act',
    summary: 'Retry a failed email',
    params: object('Which notice.', { noticeId }),
    input: object('Why.', { reason }),
    answer: object('The notice.', { noticeId }),
    command: { words: 'notice retry' },
    form: form<Notice>({
      place: 'notice',
      path: '/notices/:noticeId/retry',
      page,
      label: 'Send again…',
      explains: 'It is sent within seconds, and tried for three days more.',
      button: 'Send it again',
      isOffered: isRetryable,
    }),
    async run({ operations, context, params, input }) {
      await operations.notices.retryEmail(context, params.noticeId, input.reason)
      return params
    },
    tell: () => ({ text: 'The notice is sent again.' }),
  }),
]
