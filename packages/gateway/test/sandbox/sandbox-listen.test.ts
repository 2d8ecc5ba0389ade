import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Tillgate } from '../../../sdk/src/index.ts'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { makeCallbackHistory } from '../../src/core/callbacks/store/callback-history.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { temporaryFolder } from '../support/process.ts'

const gateway = await startTestGateway()
const credentials = sandboxFilePath(gateway.config.dataDir)
const tillgate = Tillgate.fromFile(credentials)
const history = makeCallbackHistory(gateway.pool)
const till = join(import.meta.dirname, '../../../sdk/src/cli/main.ts')
/** Nobody is there: what is delivered is delivered by whoever listens. */
const unreachable = 'http://127.0.0.1:9/callbacks'

async function paidOrder(more: { callbackUrl?: string } = {}) {
  const order = createBody({ now: Date.now(), orderNo: `listen-${Math.random()}` })
  const callbackUrl = more.callbackUrl ?? unreachable
  const { paymentId } = await tillgate.orders.create({ ...order, channel: 'WEB', callbackUrl })
  await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
  await tillgate.orders.waitUntilFinal(paymentId)
  return { paymentId, orderNo: order.order.orderNo }
}

interface Received {
  readonly id: string
  readonly eventName: string
}

/** The developer's own program. */
async function startProgram() {
  const received: Received[] = []
  let answer = (_event: Received): number => 200
  const handler = tillgate.callbacks.handler(
    (event) => {
      received.push({ id: event.id, eventName: event.eventName })
      if (answer(event) !== 200) throw new Error('not today')
    },
    { onError: () => {} },
  )
  const server = createServer((request, response) => void handler.node(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/callbacks`,
    received,
    answers(decide: typeof answer) {
      answer = decide
    },
  }
}

interface Line {
  readonly id: string
  readonly eventName: string
  readonly kind: 'first' | 'resend'
  readonly paymentId: string
  readonly forwarded?: { readonly httpStatus?: number; readonly kind: string }
}

function startListen(args: readonly string[]) {
  const child: ChildProcess = spawn(
    process.execPath,
    [till, 'listen', '--credentials', credentials, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let [output, errors] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const ended = once(child, 'close')
  after(() => child.kill('SIGKILL'))
  return {
    output: () => output,
    errors: () => errors,
    lines: (): Line[] =>
      output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    exitCode: async () => (await ended)[0],
  }
}

const attemptsOf = async (callbackId: string) => {
  const callback = await history.findCallback(callbackId)
  assert(callback)
  return { callback, attempts: await history.listAttempts(callback) }
}

test('listen shows what happens, forwards it, and counts it as delivered with an attempt that says by whom', async () => {
  const program = await startProgram()
  const state = join(temporaryFolder(), 'state.json')
  const listen = startListen(['--forward-to', program.url, '--json', '--state', state])
  await until(() => existsSync(state), listen.errors)
  const { paymentId } = await paidOrder()
  await until(() => listen.lines().length >= 2, listen.errors)
  assert.deepEqual(
    listen.lines().map((line) => [line.eventName, line.kind, line.paymentId, line.forwarded?.httpStatus]),
    [
      ['payment.order.confirming', 'first', paymentId, 200],
      ['payment.order.success', 'first', paymentId, 200],
    ],
  )
  assert.deepEqual(
    program.received.map(({ eventName }) => eventName),
    ['payment.order.confirming', 'payment.order.success'],
  )
  const { callback, attempts } = await attemptsOf(listen.lines()[1]?.id ?? '')
  assert.equal(callback.state, 'delivered')
  assert.equal(callback.isWarned, false)
  assert.equal(callback.nextAttemptAtMs, undefined)
  const last = attempts.at(-1)
  assert.equal(last?.outcome, 'acknowledged')
  assert.match(last?.detail ?? '', new RegExp(`taken by a listener, forwarded to ${program.url}`))
  const { rows } = await gateway.pool.query('select from callback_queue where callback_id = $1', [
    callback.callbackId,
  ])
  assert.equal(rows.length, 0, 'nothing is left to be sent')
  await listen.kill()
})

test('killed in the middle and started again, listen shows what was missed, and nothing twice', async () => {
  const program = await startProgram()
  const state = join(temporaryFolder(), 'state.json')
  const args = ['--forward-to', program.url, '--json', '--state', state]
  const first = startListen(args)
  await until(() => existsSync(state), first.errors)
  const one = await paidOrder()
  // Shown, and kept as shown: a listener that began now would find nothing.
  await until(async () => {
    const { after, handled } = JSON.parse(readFileSync(state, 'utf8'))
    const { callbacks } = await tillgate.sandbox.listen({ after })
    return first.lines().length >= 2 && callbacks.length === handled.length
  }, first.errors)
  await first.kill()
  const missed = [await paidOrder(), await paidOrder()]
  const second = startListen(args)
  await until(() => second.lines().length >= 4, second.errors)
  const three = await paidOrder()
  await until(() => second.lines().length >= 6, second.errors)
  assert.deepEqual(
    new Set(second.lines().map(({ paymentId }) => paymentId)),
    new Set([...missed, three].map(({ paymentId }) => paymentId)),
  )
  const ids = [...first.lines(), ...second.lines()].map(({ id }) => id)
  assert.equal(new Set(ids).size, 8)
  assert.equal(first.lines()[0]?.paymentId, one.paymentId)
  assert.equal(new Set(program.received.map(({ id }) => id)).size, 8)
  await second.kill()
})

test('killed while the program handles a callback, that one comes again and no other does', async () => {
  const program = await startProgram()
  const state = join(temporaryFolder(), 'state.json')
  const args = ['--forward-to', program.url, '--json', '--state', state]
  await (await beginAt(state, args)).kill()
  const orders = [await paidOrder(), await paidOrder(), await paidOrder()]
  const first = startListen(args)
  let killed: Promise<void> | undefined
  program.answers(() => {
    if (program.received.length === 4) killed ??= first.kill()
    return 200
  })
  await until(() => killed !== undefined, first.errors)
  await killed
  const handled = (JSON.parse(readFileSync(state, 'utf8')) as { handled: string[] }).handled
  assert.equal(handled.length, 3)
  const interrupted = program.received[3]?.id
  const second = startListen(args)
  await until(() => second.lines().length >= 3, second.errors)
  const counts = Map.groupBy(program.received, ({ id }) => id)
  assert.equal(counts.size, 2 * orders.length)
  for (const [id, times] of counts) assert.equal(times.length, id === interrupted ? 2 : 1)
  await second.kill()
})

async function beginAt(state: string, args: readonly string[]) {
  const listen = startListen(args)
  await until(() => existsSync(state), listen.errors)
  return listen
}

test('a resend is shown, also one that was asked for while nobody listened', async () => {
  const program = await startProgram()
  const state = join(temporaryFolder(), 'state.json')
  const args = ['--forward-to', program.url, '--json', '--state', state]
  const first = await beginAt(state, args)
  const { paymentId } = await paidOrder()
  await until(() => first.lines().length >= 2, first.errors)
  assert.equal((await tillgate.callbacks.resend(paymentId)).queued, 2)
  await until(() => first.lines().length >= 4, first.errors)
  assert.deepEqual(
    first.lines().map(({ kind }) => kind),
    ['first', 'first', 'resend', 'resend'],
  )
  await first.kill()
  // A merchant may ask once a minute, and a minute passes for this order.
  await tillgate.sandbox.advance({ paymentId, milliseconds: 61_000 })
  assert.equal((await tillgate.callbacks.resend(paymentId)).queued, 2)
  const second = startListen(args)
  await until(() => second.lines().length >= 2, second.errors)
  assert.deepEqual(
    second.lines().map(({ kind, paymentId: shown }) => [kind, shown]),
    [
      ['resend', paymentId],
      ['resend', paymentId],
    ],
  )
  await second.kill()
})

test('a program that answers 500 is told of, and the callback stays undelivered until it is asked for again', async () => {
  const program = await startProgram()
  program.answers(() => 500)
  const state = join(temporaryFolder(), 'state.json')
  const listen = await beginAt(state, ['--forward-to', program.url, '--state', state])
  const { paymentId, orderNo } = await paidOrder()
  await until(() => listen.output().split('\n').length >= 3, listen.errors)
  const line = ` {2}${paymentId} {2}→ HTTP 500 in +\\d+ ms.* {2}order ${orderNo}`
  const starts = ['payment.order.confirming', 'payment.order.success   '].map(
    (event) =>
      listen
        .output()
        .match(new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}${event} {2,}[\\d.]+ [A-Z]{3}(?=${line})`, 'm'))?.[0],
  )
  assert.equal(starts[0]?.length, starts[1]?.length, listen.output())
  assert(starts[0])
  assert.match(listen.output(), new RegExp(`till resend ${paymentId}`))
  const [newest] = await history.listCallbacks({ paymentId }, { limit: 1 })
  assert.equal(newest?.state, 'waiting')
  await listen.kill()
})

test('without an address callbacks are only shown, --count ends it, and nothing counts as delivered', async () => {
  const state = join(temporaryFolder(), 'state.json')
  await (await beginAt(state, ['--state', state])).kill()
  const { paymentId } = await paidOrder()
  const listen = startListen(['--count', '2', '--json', '--state', state])
  assert.equal(await listen.exitCode(), 0, listen.errors())
  assert.deepEqual(
    listen.lines().map((line) => line.forwarded),
    [undefined, undefined],
  )
  const [newest] = await history.listCallbacks({ paymentId }, { limit: 1 })
  assert.equal(newest?.state, 'waiting')
})

test('a state that cannot be made out, or is not this gateway’s, begins from now', async () => {
  for (const text of ['{', '{"after":"nonsense","handled":[]}']) {
    const state = join(temporaryFolder(), 'state.json')
    writeFileSync(state, text)
    const listen = startListen(['--count', '1', '--json', '--state', state])
    await until(() => /"after":"\d{13}\./.test(readFileSync(state, 'utf8')), listen.errors)
    await paidOrder()
    assert.equal(await listen.exitCode(), 0, listen.errors())
  }
})

test('what a direct delivery took already is not written twice', async () => {
  const program = await startProgram()
  const { paymentId } = await paidOrder({ callbackUrl: program.url })
  const find = async () => (await history.listCallbacks({ paymentId }, { limit: 1 }))[0]
  await until(async () => (await find())?.state === 'delivered')
  const callbackId = (await find())?.callbackId ?? ''
  await tillgate.sandbox.acknowledge({ callbackId, forwardedTo: 'http://localhost:1/', durationMs: 1 })
  assert.equal((await attemptsOf(callbackId)).attempts.length, 1)
})

test('listen shows a callback to a host that is no longer on the merchant’s list, and nothing is sent there', async () => {
  const program = await startProgram()
  const merchant = await gateway.addMerchant()
  const create = () =>
    merchant.call('service.trade.create', { ...createBody({ now: Date.now() }), callbackUrl: program.url })
  const { paymentId } = (await create()).data
  await gateway.pool.query(`update merchants set callback_hosts = '{other.example}' where merchant_id = $1`, [
    merchant.merchantId,
  ])
  await until(async () => (await create()).code === 40005)
  const { after } = (await merchant.call('service.sandbox.listen', {})).data
  await merchant.call('service.sandbox.pay', { paymentId, outcome: 'success' })
  const find = async () => (await history.listCallbacks({ paymentId }, { limit: 1 }))[0]
  await until(async () => (await find())?.heldReason === 'host_not_on_list')
  const heard = await merchant.call('service.sandbox.listen', { after })
  assert.ok(heard.data.callbacks.length >= 1)
  assert.deepEqual(program.received, [])
})

test('another merchant’s callback cannot be acknowledged, nor one that does not exist', async () => {
  const { paymentId } = await paidOrder()
  const [callback] = await history.listCallbacks({ paymentId }, { limit: 1 })
  const stranger = await gateway.addMerchant()
  const body = { forwardedTo: 'http://localhost:1/', durationMs: 1 }
  for (const callbackId of [callback?.callbackId, '018f0000-0000-7000-8000-000000000000']) {
    const answer = await stranger.call('service.sandbox.acknowledge', { ...body, callbackId })
    assert.deepEqual([answer.status, answer.code], [404, 40400])
  }
  const begun = await stranger.call('service.sandbox.listen', {})
  const heard = await stranger.call('service.sandbox.listen', { after: begun.data.after })
  assert.deepEqual(heard.data.callbacks, [])
})

test('listen does not exist in live', async () => {
  const live = await startTestGateway({
    environment: { MODE: 'live', PUBLIC_URL: 'https://pay.example.com' },
  })
  const merchant = await live.addMerchant()
  for (const method of ['service.sandbox.listen', 'service.sandbox.acknowledge']) {
    assert.equal((await merchant.call(method, {})).code, 40401)
  }
})
