// The script for the first calls against the real service, run against the fake: it must not fail in the hands of the
// first person who has an account.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFakeStripe, stripeKey } from './fake-stripe.ts'

const script = join(import.meta.dirname, '../try.ts')

test('the script makes every call, asks for one payment, and prints the table', async () => {
  const fake = await openFakeStripe({
    get nowMs() {
      return Date.now()
    },
  })
  const environment = { STRIPE_SECRET_KEY: stripeKey, STRIPE_API_URL: fake.url, WAIT_SECONDS: '60' }
  const child = spawn(process.execPath, [script], { env: { PATH: process.env['PATH'], ...environment } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      const [, page] = /^Pay here .*: (http\S+)$/m.exec(text) ?? []
      output += text
      if (page)
        void fetch(page, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ choice: 'pay' }) })
    })
  const [code] = await once(child, 'close')
  await fake.close()
  assert.equal(code, 0, output)
  assert.equal(output.match(/\| as expected \|/g)?.length, 13, output)
})

test('the script refuses a live key', async () => {
  const child = spawn(process.execPath, [script], {
    env: { STRIPE_SECRET_KEY: 'sk_live_1' },
    stdio: 'ignore',
  })
  assert.deepEqual(await once(child, 'close'), [78, null])
})
