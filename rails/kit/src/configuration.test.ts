import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigurationError, kitSettings, readSettings, secretsIn } from './configuration.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const settings = {
  ...kitSettings,
  PROVIDER_KEY: {
    about: 'The key.',
    isSecret: true,
    check: (value: string) => (value === 'k' ? 'is short' : undefined),
  },
}
const right = { RAIL_SECRET: secret, DATABASE_URL: 'postgresql://db/rail', PROVIDER_KEY: 'key-of-a-provider' }

test('settings are read with defaults for omitted and empty ones', () => {
  const values = readSettings({ ...right, RAIL_PORT: '', RAIL_HOST: '0.0.0.0' }, settings)
  assert.deepEqual({ ...values }, { ...right, RAIL_PORT: '8090', RAIL_HOST: '0.0.0.0', RAIL_SCHEMA: '' })
  assert.deepEqual(secretsIn(settings, values), [secret, 'postgresql://db/rail', 'key-of-a-provider'])
})

test('two secrets are accepted during a rotation', () => {
  readSettings({ ...right, RAIL_SECRET: `${secret},${secret}` }, settings)
})

test('all errors are listed at once, each with the setting’s description', () => {
  const wrong = { RAIL_SECRET: 'plain', RAIL_PORT: '70000', PROVIDER_KEY: 'k', RAIL_SCHEMA: 'A-b' }
  assert.throws(
    () => readSettings(wrong, settings),
    (error) => {
      assert(error instanceof ConfigurationError)
      assert.deepEqual(
        error.problems.map((problem) => problem.split('. ')[0]),
        [
          'RAIL_SECRET must be whsec_ and the base64 of 24 to 64 bytes',
          'DATABASE_URL is missing',
          'RAIL_PORT must be a port',
          'RAIL_SCHEMA must be lower-case letters, digits and _',
          'PROVIDER_KEY is short',
        ],
      )
      return true
    },
  )
})
