// The gateway's own RSA keys, which sign callbacks and redirects.
import { Failure } from '@tillgate/protocol'
import { type Action, defineAction } from '../action.ts'
import { displayed, integer, list, longText, object, oneOf, spanMs, text, timeMs, yesNo } from '../fields.ts'
import { reason, uuid } from '../shared-fields.ts'

const minuteMs = 60_000
const dayMinutes = 24 * 60
const key = {
  keyId: uuid('The key’s ID.'),
  state: oneOf('Whether it signs.', ['signs', 'will sign', 'published', 'retired']),
  createdAtMs: timeMs('Time of creation.'),
  signsFromMs: timeMs('When it starts to sign.'),
  publicKey: longText('As PEM.', { max: 16_384 }),
}

export const platformKeyActions: readonly Action[] = [
  defineAction({
    name: 'platform-key.list',
    needs: 'admin',
    summary: 'List the gateway’s keys, newest first, and which one signs',
    answer: object('The keys.', { keys: list('Newest first.', object('A key.', key)) }),
    command: { columns: ['keyId', 'state', 'createdAtMs', 'signsFromMs'] },
    run: async ({ operations, context }) => ({ keys: await operations.platformKeys.list(context) }),
  }),
  defineAction({
    name: 'platform-key.rotate',
    needs: 'admin',
    summary: 'Create a signing key: published now, used after the overlap',
    input: object('The options.', {
      overlapMinutes: displayed(
        integer('Time for merchants to install the new key, such as 12h; 7d by default.', {
          min: 0,
          max: 99_999 * dayMinutes,
        }),
        {
          option: 'overlap',
          initial: String(7 * dayMinutes),
          fromOption: minutesOf,
        },
      ),
      atOnce: displayed(yesNo('Sign with the new key immediately. Use this if the current key was stolen.'), {
        initial: 'false',
      }),
      reason,
    }),
    answer: object('The key.', key),
    async run({ operations, context, input: { overlapMinutes, atOnce, reason: why } }) {
      const overlapMs = atOnce ? 0 : overlapMinutes * minuteMs
      return operations.platformKeys.rotate(context, { overlapMs, reason: why })
    },
    reply: ({ keyId, publicKey, signsFromMs }, { input }) => ({
      text: input.atOnce
        ? `Key ${keyId} is published at /platform-keys and signs now. Merchants reject callbacks until they have the key; the callbacks are retried for seven days.`
        : `Key ${keyId} is published at /platform-keys; it signs from ${new Date(signsFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC. Give the key to merchants so that they accept both keys by then.`,
      block: publicKey,
      next: 'platform-key list, then retire the old key',
    }),
  }),
  defineAction({
    name: 'platform-key.retire',
    needs: 'admin',
    summary: 'Retire a signing key. Another key must be active',
    params: object('Which key.', { keyId: text('The key’s ID.', { max: 64 }) }),
    input: object('The reason.', { reason }),
    answer: object('The key.', { keyId: text('The key’s ID.', { max: 64 }) }),
    async run({ operations, context, params, input }) {
      await operations.platformKeys.retire(context, { keyId: params.keyId, reason: input.reason })
      return { keyId: params.keyId }
    },
    reply: ({ keyId }) => ({ text: `Key ${keyId} is retired.` }),
  }),
]

function minutesOf(written: string): string {
  const overlapMs = spanMs(written)
  if (overlapMs !== undefined) return String(overlapMs / minuteMs)
  throw new Failure('invalid_field', { message: '--overlap must be like 90m, 12h or 7d.' })
}
