// Runs the script for the first calls to the real service against a fake, because it must work for the first person with
// an account.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../../../packages/gateway/test/support/test-bank.ts'
import type { FakeProvider } from './fake-provider.ts'
import type { RailUnderTest } from './world.ts'

export function testTrial(
  given: RailUnderTest,
  {
    calls,
    liveKey,
    takesWebhooks = false,
  }: { calls: number; liveKey: Record<string, string>; takesWebhooks?: boolean },
) {
  const script = join(dirname(given.program), 'try.ts')
  // An empty value disables the cache of compiled code.
  const { PATH, NODE_COMPILE_CACHE = '' } = process.env

  test(`${given.name}: the script makes every call, asks for one payment, and prints the table`, async () => {
    const fake = await given.openFake({
      get nowMs() {
        return Date.now()
      },
    })
    const port = await freePort()
    if (takesWebhooks) fake.webhookUrl = `http://127.0.0.1:${port}/webhooks`
    const child = spawn(process.execPath, [script], {
      env: {
        PATH,
        NODE_COMPILE_CACHE,
        ...given.environment(fake),
        RAIL_PORT: String(port),
        WAIT_SECONDS: '60',
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const [, address] = /^Pay here, .*: (\S+)$/m.exec(text) ?? []
        if (address !== undefined) void pay(fake, address)
      })
    const [code] = await once(child, 'close')
    await fake.close()
    assert.equal(code, 0, output)
    assert.equal(output.match(/\| as expected \|/g)?.length, calls, output)
  })

  test(`${given.name}: the script refuses a live account`, async () => {
    const child = spawn(process.execPath, [script], {
      env: { PATH, NODE_COMPILE_CACHE, ...liveKey },
      stdio: 'ignore',
    })
    assert.deepEqual(await once(child, 'close'), [78, null])
  })
}

async function pay(fake: FakeProvider, address: string): Promise<void> {
  const body = new URLSearchParams({ choice: 'pay' })
  if (address.startsWith('http')) await fetch(address, { method: 'POST', redirect: 'manual', body })
  else
    await fake.consumer(
      fake.payments().findLast(({ status }) => status === 'open')?.transactionId ?? '',
      'pays',
    )
}
