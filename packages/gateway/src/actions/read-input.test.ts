import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tokenActions } from './people/token-actions.ts'
import { readInput } from './read-input.ts'

const addToken = tokenActions.find(({ name }) => name.includes('add'))

test('an unknown scope is reported with the list of known scopes', () => {
  assert(addToken)
  const { errors } = readInput(
    addToken,
    { login: 'admin', name: 'x', scopes: 'orders:read, orders:raed' },
    { nameOf: (field) => field },
  )
  const [error] = errors.filter(({ field }) => field === 'scopes')
  assert.match(
    error?.message ?? '',
    /^scopes must be a list in which each item is one of orders:read, .*; "orders:raed" is not\.$/,
  )
})
