// What every answer of the merchant API owes to whoever asked, whatever the question was.
import assert from 'node:assert/strict'
import { failureNameOf, httpStatusOf, successCode, successMessage } from '@tillgate/protocol'

export interface AnswerToCheck {
  readonly status: number
  readonly headers: Headers
  readonly code: number
  readonly msg: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever came back is what is checked
  readonly data: any
}

/** The name of its code. Throws where the answer is not as the protocol says, and where it is a fault of ours. */
export function checkAnswer({ status, headers, code, msg, data }: AnswerToCheck): string {
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  const requestId = headers.get('x-request-id')
  assert(requestId, 'every answer bears a request id')
  assert.equal(status, httpStatusOf(code), 'the HTTP status goes with the code')
  assert.equal(typeof data, 'object')
  if (code === successCode) {
    assert.equal(msg, successMessage)
    return 'success'
  }
  const name = failureNameOf(code)
  assert(name, `code ${code} is in no catalog`)
  assert(name !== 'internal' && name !== 'unavailable', `answered ${code}`)
  assert.equal(data.requestId, requestId)
  assert(msg.length > 0 && msg.length < 2_000, 'a refusal says what to change, in a few words')
  assert(data.field === undefined || typeof data.field === 'string')
  return name
}
