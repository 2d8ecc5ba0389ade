// The README's quickstart, line by line in a shell as a newcomer types it. `npm ci` alone is left out: the node_modules
// that this very test runs on are what it made.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Tillgate } from '../packages/sdk/src/index.ts'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [blocks, lines] = quickstartLines(readme)

function quickstartLines(page: string): [number, string[]] {
  const found = [...page.matchAll(/<!-- run: quickstart -->\n```sh\n([\s\S]*?)```/g)]
  return [found.length, found.flatMap(([, block = '']) => block.trim().split('\n'))]
}

/** As the README's reader has it, but for ports and a folder that are free. */
const home = mkdtempSync(join(tmpdir(), 'tillgate-quickstart-'))
const [port, adminPort, shopPort, railPort] = await freePorts(4)
const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: home,
  DATA_DIR: join(home, 'data'),
  PORT: String(port),
  ADMIN_PORT: String(adminPort),
  SHOP_PORT: String(shopPort),
  RAIL_PORT: String(railPort),
  HOST: '127.0.0.1',
  LOG_FORMAT: 'json',
}
const started: { child: ChildProcess; ended: Promise<unknown> }[] = []
after(async () => {
  for (const { child, ended } of started.reverse()) {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    await ended
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 10 })
})

function shell(line: string, cwd = root) {
  // In a group of its own, so that what it started ends with it.
  const child = spawn('sh', ['-c', line], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'close')
  started.push({ child, ended })
  return {
    output: () => output,
    async says(pattern: RegExp): Promise<RegExpExecArray> {
      for (const deadline = performance.now() + 120_000; ; await pause(20)) {
        const found = pattern.exec(output)
        if (found) return found
        assert(child.exitCode === null && performance.now() < deadline, `${line}:\n${output}`)
      }
    },
    exitCode: async () => (await ended)[0],
  }
}

test('the quickstart has its two blocks, and every line of them is known here', () => {
  assert.equal(blocks, 2)
  assert.deepEqual(lines, [
    'npm ci && npm start',
    'npx till trigger payment.order.success',
    'npx node examples/first-payment.mjs',
  ])
})

test('the README shows the first payment as it is', () => {
  const program = readFileSync(join(root, 'examples/first-payment.mjs'), 'utf8')
  const code = program.slice(program.indexOf('import'))
  assert(readme.includes(`\`\`\`js\n${code}\`\`\``))
})

const request = readFileSync(join(root, 'examples/create-order.sh'), 'utf8').trimEnd()

test('the README shows the request without an SDK as it is', () => {
  assert(readme.includes(`\`\`\`sh\n${request}\n\`\`\``))
})

test('each line works, one after the other', async () => {
  const [start = '', trigger = '', firstPayment = ''] = lines
  const gateway = shell(start.replace('npm ci && ', ''))
  const [, shopUrl = ''] = await gateway.says(/"shopUrl":"([^"]+)"/)
  assert.equal(shopUrl, `http://127.0.0.1:${shopPort}`)
  assert.match(await (await fetch(shopUrl)).text(), /Everything for tea/)

  const created = shell(request, home)
  assert.equal(await created.exitCode(), 0, created.output())
  const response = JSON.parse(created.output())
  assert.equal(response.code, 20000, created.output())
  assert.equal((await fetch(response.data.checkoutUrl)).status, 200)

  const triggered = shell(trigger)
  assert.equal(await triggered.exitCode(), 0, triggered.output())
  assert.match(triggered.output(), /status +success/)

  const payment = shell(firstPayment)
  const [, checkoutUrl = ''] = await payment.says(/Pay at (\S+)\n/)
  const page = await fetch(checkoutUrl)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /Green tea/)
  // The tap on a test wallet, which the browser tests do by hand.
  const [, paymentId = ''] = /\/(P[0-9A-Z]{26})\//.exec(checkoutUrl) ?? []
  const tillgate = Tillgate.fromFile(join(home, 'data/sandbox-merchant.json'))
  await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
  assert.equal(await payment.exitCode(), 0, payment.output())
  assert.match(payment.output(), /The order is success\.\n$/)
})

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  return ports
}
