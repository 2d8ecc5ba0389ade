import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, shortAddressOf } from './destination.ts'

test('lists show a URL as host and path', () => {
  assert.equal(addressOf('https://shop.example:8443/a/b?c=d'), 'https://shop.example:8443/a/b')
  assert.equal(shortAddressOf('https://shop.example:8443/a/b?c=d'), 'shop.example:8443/a/b')
  assert.equal(shortAddressOf('HTTP://shop.example'), 'shop.example')
})
