import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidPattern } from '@tillgate/protocol'
import { destinationIdOf } from './destination-id.ts'

const idOf = (callbackUrl: string) => destinationIdOf({ callbackUrl, endpointId: undefined })

test('an endpoint is its own destination, whatever its URL', () => {
  const endpointId = '0197c5a0-0000-7000-8000-00000000000a'
  const callbackUrl = 'https://shop.example/callbacks'
  assert.equal(destinationIdOf({ callbackUrl, endpointId }), endpointId)
  assert.notEqual(destinationIdOf({ callbackUrl, endpointId: '' }), endpointId)
})

test('a URL is the same destination with any query, and another path is another destination', () => {
  const id = idOf('https://shop.example/callbacks')
  assert.match(id, uuidPattern)
  assert.equal(idOf('https://shop.example/callbacks?order=1'), id)
  assert.equal(idOf('https://shop.example/callbacks#paid'), id)
  assert.equal(idOf('https://shop.example/callbacks?back=https://a.example/?b'), id)
  assert.notEqual(idOf('https://shop.example/callbacks/'), id)
  assert.notEqual(idOf('https://shop.example/other'), id)
  assert.notEqual(idOf('https://shop.example:8443/callbacks'), id)
})

test('the id of the longest URL is as short as any other', () => {
  assert.equal(idOf(`https://shop.example/${'ü'.repeat(2_000)}`).length, 36)
})
