import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import type { NextAction } from '@tillgate/protocol'
import { checkConformance } from '../../src/finance/rails/conformance/check-conformance.ts'
import { postToRail } from '../../src/finance/rails/conformance/post-to-rail.ts'
import { faults, openBrokenRail } from '../support/broken-rail.ts'
import { runCommand } from '../support/command.ts'
import { commandScript } from '../support/process.ts'
import { bankSecret, openTestBank } from '../support/test-bank.ts'

interface CheckedRail {
  readonly url: string
  readonly approve: (transactionId: string) => unknown
  readonly timeoutMs?: number
}

/** As the command does it, with somebody who approves at once. */
function check({ url, approve, timeoutMs }: CheckedRail) {
  return checkConformance({
    currencies: ['JPY', 'EUR', 'TND'],
    post: postToRail(url, timeoutMs),
    secret: bankSecret,
    // No time goes by between two questions; a rail that never approves is asked a thousand times.
    clock: { now: Date.now, wait: async () => {} },
    random: randomBytes,
    signal: new AbortController().signal,
    approvalWithinMs: 2_000,
    askForApproval: ({ nextAction }) => void approve(idIn(nextAction)),
  })
}

function idIn(nextAction: NextAction): string {
  assert(nextAction.kind === 'redirect')
  return nextAction.url.split('/').at(-1) ?? ''
}

test('the test bank does all that the protocol says', async () => {
  const bank = await openTestBank()
  const { results, slowestAnswerMs } = await check({
    url: bank.messagesUrl,
    approve: (transactionId) => bank.choose(transactionId, 'approve'),
  })
  assert.deepEqual(
    results.filter(({ outcome }) => outcome !== 'passed'),
    [],
  )
  assert.equal(results.length, 25)
  assert(slowestAnswerMs > 0)
})

for (const fault of faults) {
  test(`a rail that ${fault.name} is found out`, async () => {
    const { url, bank } = await openBrokenRail(fault)
    const approve = (transactionId: string) => bank.choose(transactionId, 'approve')
    const { results } = await check({ url, approve, ...(fault.isSilent && { timeoutMs: 500 }) })
    const failed = results.filter(({ outcome }) => outcome === 'failed')
    assert(
      failed.some(({ title }) => fault.foundBy.test(title)),
      JSON.stringify(failed, null, 2),
    )
    for (const { found, protocol } of failed) assert(found && protocol)
    if (fault.found) assert.match(failed.map(({ found }) => found).join('\n'), fault.found)
  })
}

test('a broken rail without its fault passes', async () => {
  const { url, bank } = await openBrokenRail({})
  const { results } = await check({ url, approve: (id) => bank.choose(id, 'approve') })
  assert(results.every(({ outcome }) => outcome === 'passed'))
})

test('a rail that does what it refused is found out', async () => {
  const { url, bank } = await openBrokenRail({})
  const post = postToRail(url)
  const { results } = await checkConformance({
    currencies: ['EUR'],
    async post(body, headers) {
      const response = await post(body, headers)
      const isRefused = response.kind === 'answered' && response.httpStatus === 401
      if (isRefused && body.includes('payment.start')) bank.answer(JSON.parse(body))
      return response
    },
    secret: bankSecret,
    clock: { now: Date.now, wait: async () => {} },
    random: randomBytes,
    signal: new AbortController().signal,
    approvalWithinMs: 0,
    askForApproval: () => assert.fail('nobody is there'),
  })
  assert.match(results[0]?.found ?? '', /the message was rejected, but the payment is pending/)
})

async function runCheck(args: readonly string[]) {
  const child = spawn(process.execPath, [commandScript, 'rail', 'check', ...args], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  })
  let stdout = ''
  let stderr = ''
  const asked: string[] = []
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    stderr += text
    // Whoever reads it opens the page and taps the button.
    for (const [, page = ''] of String(text).matchAll(/^Approve .* within .*: (http\S+)$/gm)) {
      asked.push(page)
      void fetch(page, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ choice: 'approve' }),
      })
    }
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr, asked }
}

test('tillgate rail check asks for approval, says what was found, and ends with 0', async () => {
  const bank = await openTestBank()
  const { code, stdout, asked } = await runCheck([bank.messagesUrl, '--secret', bankSecret, '--wait', '60'])
  assert.equal(code, 0, stdout)
  assert.equal(asked.length, 5)
  assert.match(stdout, /✓ refunds are exact to the last minor unit, and never more than was paid \(TND\)/)
  assert.match(
    stdout,
    /25 passed, 0 failed, 0 not checked\. The slowest response took \d+ ms; the limit is 10000 ms/,
  )
})

test('tillgate rail check says what is wrong and what the protocol says, and ends with 1', async () => {
  const { url } = await openBrokenRail(faults.find(({ name }) => name.startsWith('declines what')) ?? {})
  const text = await runCheck([url, '--secret', bankSecret])
  assert.equal(text.code, 1)
  assert.match(
    text.stdout,
    /✗ a payment and a refund with an unknown id are unknown\n {4}found: payment\.status got declined, not unknown\n {4}expected: payment\.status, payment\.cancel and refund\.status of an unknown id get unknown/,
  )
  assert.match(
    text.stdout,
    /not checked: the payment of 5\.14 EUR stayed pending; --wait allows time to approve it/,
  )
  const json = await runCheck([url, '--secret', bankSecret, '--json', '--currencies', 'EUR'])
  assert.equal(json.code, 1)
  const report = JSON.parse(json.stdout)
  assert.equal(report.url, url)
  assert(report.results.some(({ outcome }: { outcome: string }) => outcome === 'failed'))
})

test('tillgate rail check refuses an address, a secret, a currency and a wait that are none', async () => {
  for (const [args, words] of [
    [['ftp://bank.example', '--secret', bankSecret], /https:\/\//],
    [['https://bank.example', '--secret', 'plain'], /whsec_/],
    [['https://bank.example', '--secret', bankSecret, '--currencies', 'EURO'], /ISO 4217/],
    [['https://bank.example', '--secret', bankSecret, '--wait', 'long'], /--wait/],
    [['https://bank.example'], /--secret/],
  ] as const) {
    const { code, err } = await runCommand({}, ['rail', 'check', ...args])
    assert.equal(code, 1)
    assert.match(err, words)
  }
})
