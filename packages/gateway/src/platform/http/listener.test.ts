import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { makeControl } from '../../../test/support/admission.ts'
import { makeListener } from './listener.ts'

test('a route that declares a schema is rejected, because nothing would compile it', async () => {
  const listener = makeListener({
    log: pino({ level: 'silent' }),
    newRequestId: () => 'id',
    readiness: async () => ({ ready: true }),
    isUnavailable: () => false,
    trustedProxies: [],
    onAnswered: () => {},
    limitPages: () => {},
    sendMissingPage: (reply) => reply,
    admission: makeControl().admission,
  })
  listener.get('/page', { schema: { querystring: { type: 'object' } } }, async () => 'a page')
  await assert.rejects(async () => listener.ready(), /routes check what they read/)
})
