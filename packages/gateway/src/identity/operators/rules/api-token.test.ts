import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseScopes, scopeNames } from './api-token.ts'

test('an unknown scope is rejected with the list of scopes, and a token needs at least one', () => {
  const ann = { login: 'ann', role: 'admin' } as const
  assert.throws(() => parseScopes(['orders:reed'], ann), {
    field: 'scopes',
    message: `Scope orders:reed does not exist. Use one of: ${scopeNames.join(', ')}.`,
  })
  assert.throws(() => parseScopes([], ann), /at least one scope/)
  assert.deepEqual(parseScopes(['orders:read', 'orders:read'], ann), ['orders:read'])
})

test('a scope above the operator’s role is rejected with both', () => {
  const needsMore = () => parseScopes(['money:move'], { login: 'eve', role: 'viewer' })
  assert.throws(needsMore, /money:move needs the role \w+; eve is viewer/)
})
