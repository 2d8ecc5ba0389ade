import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeLog } from './log.ts'

test('a log line has the messages of an error and its cause, and no secret', () => {
  const lines: string[] = []
  const log = makeLog({ write: (line) => lines.push(line), now: () => 0, secrets: ['sk_test_secret'] })
  const cause = Object.assign(new Error('the key sk_test_secret is wrong'), {
    headers: { authorization: 'x' },
  })
  log.error('a call failed', { id: 'T1', error: new Error('no answer', { cause }) })
  log.info('sk_test_secret')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      {
        time: '1970-01-01T00:00:00.000Z',
        level: 'error',
        msg: 'a call failed',
        id: 'T1',
        error: {
          name: 'Error',
          message: 'no answer',
          cause: { name: 'Error', message: 'the key *** is wrong' },
        },
      },
      { time: '1970-01-01T00:00:00.000Z', level: 'info', msg: '***' },
    ],
  )
})
