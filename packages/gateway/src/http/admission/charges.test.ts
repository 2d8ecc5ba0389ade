import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costOfBrokenHttp } from './charges.ts'

test('an address pays for broken HTTP, less for a connection that never said anything, and not for a slow one', () => {
  const cost = (code: string, bytesRead: number) =>
    costOfBrokenHttp(Object.assign(new Error(code), { code }), { bytesRead })
  assert.equal(cost('HPE_INVALID_METHOD', 9), 1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 0), 0.1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 9), 0)
  assert.equal(cost('HPE_INVALID_EOF_STATE', 9), 0)
  assert.equal(cost('ECONNRESET', 0), 0)
})
