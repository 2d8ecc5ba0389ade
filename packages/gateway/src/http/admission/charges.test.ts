import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costOfBrokenHttp, costOfUnfinishedBody } from './charges.ts'

test('an address pays for broken HTTP, for a slow request unless it is known, and less for a connection that never said anything', () => {
  const cost = (code: string, bytesRead: number, isKnown = false) =>
    costOfBrokenHttp(Object.assign(new Error(code), { code }), { bytesRead, isKnown })
  assert.equal(cost('HPE_INVALID_METHOD', 9), 1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 0), 0.1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 9), 1)
  assert.equal(cost('ERR_HTTP_REQUEST_TIMEOUT', 9, true), 0)
  assert.equal(cost('HPE_INVALID_EOF_STATE', 9), 0)
  assert.equal(cost('ECONNRESET', 0), 0)
})

test('a body that does not come whole costs an envelope for each five seconds, and a tenth at least', () => {
  assert.deepEqual([0, 400, 1_000, 5_000, 15_000].map(costOfUnfinishedBody), [0.1, 0.1, 0.2, 1, 3])
})
