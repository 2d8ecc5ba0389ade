import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseScopes, scopeNames } from './api-token.ts'

test('an unknown scope is named, with those that exist, and a token has at least one', () => {
  const ann = { login: 'ann', role: 'admin' } as const
  assert.throws(() => parseScopes(['orders:reed'], ann), {
    field: 'scopes',
    message: `Scope orders:reed does not exist. Use one of: ${scopeNames.join(', ')}.`,
  })
  assert.throws(() => parseScopes([], ann), /at least one scope/)
  assert.deepEqual(parseScopes(['orders:read', 'orders:read'], ann), ['orders:read'])
})

test('a scope above the role of the operator is named with both', () => {
  const needsMore = () => parseScopes(['money:move'], { login: 'eve', role: 'viewer' })
  assert.throws(needsMore, /money:move needs the role \w+; eve is viewer/)
})
