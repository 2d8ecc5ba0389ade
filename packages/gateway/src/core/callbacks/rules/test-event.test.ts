import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { eventNames, parseCallbackResult } from '@tillgate/protocol'
import { testEventBody } from './test-event.ts'

for (const eventName of eventNames)
  test(`a test event ${eventName} is read like a real one`, () => {
    const merchantId = '100000000000000001'
    const body = testEventBody({ merchantId, eventName, nowMs: 1_760_000_000_000, random: randomBytes })
    const { result } = parseCallbackResult(eventName, body)
    assert.equal(result.merchantId, merchantId)
    assert.equal('refundAmount' in result ? result.refundAmount : result.paymentAmount, 12.5)
  })
