// tillgate rail init against a gateway: registration here and through the admin API, and the file that it writes. With a
// provider's fake and the rail as a program it is in rails/stripe/test/init.test.ts.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { reachingAll } from '../../src/core/authority/context.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { temporaryFolder } from '../support/process.ts'

const strict = { APPROVAL_FOR: 'destination' }
const gateway = await startTestGateway()
const guarded = await startTestGateway({ environment: strict })
const key = `sk_test_${'a'.repeat(24)}`
const keys = ['--set', `STRIPE_SECRET_KEY=${key}`, 'STRIPE_WEBHOOK_SECRET=whsec_abc']

async function init({ on = gateway, args }: { on?: TestGateway; args: string[] }) {
  const file = join(temporaryFolder(), 'rail.env')
  const environment = { ...databaseOf(on), ...(on === guarded && strict) }
  const ended = await runCommand(environment, ['rail', 'init', 'stripe', '--file', file, ...args])
  return { ...ended, file, settings: existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : undefined }
}

const addToken = async (on: TestGateway) =>
  (
    await on.operations.apiTokens.addToken(reachingAll('test'), {
      login: 'admin',
      name: 'rails',
      scopes: ['rails:manage'],
      days: 1,
    })
  ).token

async function railsOf({ operations }: TestGateway): Promise<string[]> {
  return (await operations.rails.listRails(reachingAll('test'))).map(({ railId }) => railId)
}

test('what is missing or wrong is listed at once, with where to find it, and nothing is registered', async () => {
  const { code, err, settings } = await init({ args: ['--set', 'STRIPE_SECRET_KEY=pk_test_1'] })
  assert.equal(code, 1)
  assert.match(
    err,
    /STRIPE_SECRET_KEY must begin with sk_test_.*\n.*STRIPE_WEBHOOK_SECRET is missing\. .*Webhooks/,
  )
  assert.equal(settings, undefined)
  assert(!(await railsOf(gateway)).includes('stripe'))
})

test('the rail is registered, its settings are for its owner alone, and the next steps are shown', async () => {
  const { code, out, err, file, settings } = await init({ args: keys })
  assert.equal(code, 0, err)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(Object.keys(settings ?? {}).toSorted(), [
    'DATABASE_URL',
    'RAIL_PORT',
    'RAIL_SECRET',
    'STRIPE_SECRET_KEY',
    'STRIPE_WEBHOOK_SECRET',
  ])
  assert.match(out, /http:\/\/127\.0\.0\.1:8090\/webhooks with the events checkout\.session\.completed/)
  assert(out.includes(`npm start --workspace rails/stripe -- ${file}`))
  assert.match(out, /does not run yet[\s\S]*rail check http:\/\/127\.0\.0\.1:8090\/messages --secret whsec_/)
  assert(!out.includes(key))
  assert((await railsOf(gateway)).includes('stripe'))
})

test('a rail that is registered already, and a file that is there, stay as they are', async () => {
  const again = await init({ args: keys })
  assert.equal(again.code, 1)
  assert.match(again.err, /Rail stripe already exists/)
  assert.equal(again.settings, undefined)
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const { settings, file } = await init({ args: [...keys, '--secret', secret] })
  assert.equal(settings?.['RAIL_SECRET'], secret)
  const third = await init({ args: [...keys, '--file', file] })
  assert.match(third.err, /exists\. Delete it/)
  assert.equal(parseEnv(readFileSync(file, 'utf8'))['RAIL_SECRET'], secret)
})

test('the admin API registers it in the name of the token’s operator', async () => {
  const token = await addToken(gateway)
  const through = ['--token', token, '--gateway', gateway.adminUrl]
  const { code, err, settings } = await init({ args: [...keys, ...through, '--id', 'cards'] })
  assert.equal(code, 0, err)
  assert.match(settings?.['RAIL_SECRET'] ?? '', /^whsec_/)
  const { rows } = await gateway.pool.query<{ actor: string }>(
    "select actor from audit where act = 'rail.add' and subject = 'cards'",
  )
  assert.match(rows[0]?.actor ?? '', /admin/)
  const wrong = await init({ args: [...keys, '--token', 'wrong', '--gateway', gateway.adminUrl] })
  assert.match(wrong.err, /^The admin API rejected the rail: /)
})

test('with approvals, a second operator decides, and sees the secret that the file waits for', async () => {
  const here = await init({ on: guarded, args: keys })
  assert.match(here.err, /needs a second operator’s approval.*admin API/)
  assert.equal(here.settings, undefined)
  const through = ['--token', await addToken(guarded), '--gateway', guarded.adminUrl]
  const { code, out, settings } = await init({ on: guarded, args: [...keys, ...through] })
  assert.equal(code, 0)
  assert.match(out, /a second operator must approve[\s\S]*Enter it as RAIL_SECRET/)
  assert.equal(settings?.['RAIL_SECRET'], '')
  assert(!(await railsOf(guarded)).includes('stripe'))
  const { rows } = await guarded.pool.query("select action from approvals where status = 'waiting'")
  assert.deepEqual(rows, [{ action: 'rail.add' }])
})
