import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestSetting, unknownNameWarnings } from './unknown-names.ts'

test('an unknown name in .env causes a warning with the closest setting', () => {
  assert.deepEqual(unknownNameWarnings({}, 'MODE=live\nPOSTGRES_IMAGE=postgres:18\nSMTP_HOST=mail'), [
    'POSTGRES_IMAGE in .env is not a setting of Tillgate and has no effect',
    'SMTP_HOST in .env is not a setting of Tillgate and has no effect; the nearest setting is SMTP_URL',
  ])
})

test('an environment variable that was meant for the gateway causes a warning', () => {
  const names = ['OIDC_SCOPE', 'DATABSE_URL', 'TILLGATE_MODE', 'CALLBACK_TIMEOUT', 'SMTP_PASSWORD']
  const warnings = unknownNameWarnings(Object.fromEntries(names.map((name) => [name, 'x'])), '')
  assert.deepEqual(
    warnings.map((line) => line.split(' ')[0]),
    names,
  )
  assert.match(warnings[1] ?? '', /the nearest setting is DATABASE_URL$/)
  assert.match(warnings[2] ?? '', /the nearest setting is MODE$/)
})

test('variables of an ordinary machine, Kubernetes and Node.js cause no warning', () => {
  const names =
    `HOME PATH SHELL USER LANG TERM PWD HOSTNAME MAIL NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS PORTS
    UV_THREADPOOL_SIZE MALLOC_ARENA_MAX OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_HEADERS PGHOST PGPASSWORD POSTGRES_PASSWORD
    TILLGATE_SERVICE_HOST TILLGATE_PORT_80_TCP KUBERNETES_SERVICE_HOST KUBERNETES_PORT INVOCATION_ID
    CREDENTIALS_DIRECTORY STATE_DIRECTORY LOG_FILE npm_config_cache DATABASE_HOST LOGNAME EDITOR`.split(/\s+/)
  assert.deepEqual(unknownNameWarnings(Object.fromEntries(names.map((name) => [name, 'x'])), ''), [])
})

test('known settings and empty variables cause no warning', () => {
  assert.deepEqual(
    unknownNameWarnings({ MODE: 'live', SMTP_URL: 'smtp://mail', SMTP_HOST: '' }, 'PORT=1'),
    [],
  )
})

test('a misspelling is closer than a setting with the same first word', () => {
  assert.equal(nearestSetting('WALET_DAY_LIMIT').name, 'WALLET_DAY_LIMIT')
  assert.equal(nearestSetting('OPERATOR_EMAIL').name, 'OPERATOR_EMAILS')
})
