// Every tab of the API reference is run against a gateway, in each language that this machine has.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startTestGateway } from '../packages/gateway/test/support/gateway.ts'
import { consumerOf } from '../packages/gateway/test/support/wallet.ts'
import { type Method, methods } from '../packages/protocol/src/methods.ts'
import { Tillgate } from '../packages/sdk/src/index.ts'
import { pageOf } from '../scripts/documentation/api.ts'

const root = join(import.meta.dirname, '..')
const home = mkdtempSync(join(tmpdir(), 'tillgate-tabs-'))
const gateway = await startTestGateway()
const consumer = await consumerOf(gateway, { minor: 100_000n, currency: 'USD' })
const listener = createServer((_request, response) => response.end('{"code":20000,"msg":""}')).listen(0)
after(() => {
  listener.close()
  rmSync(home, { recursive: true, force: true })
})
const callbackUrl = `http://localhost:${(listener.address() as AddressInfo).port}/callbacks`
for (const name of ['node_modules', 'examples']) symlinkSync(join(root, name), join(home, name))
symlinkSync(gateway.config.dataDir, join(home, 'data'))
cpSync(join(root, 'clients'), join(home, 'clients'), { recursive: true })
const tillgate = Tillgate.fromFile(join(home, 'data/sandbox-merchant.json'))

/** The code of a page's tab. */
function tabOf(page: string, title: string): string {
  const text = readFileSync(join(root, page), 'utf8')
  const [, code] =
    new RegExp(`\\*\\*${title}\\*\\*\\n\\n<!-- run: tab -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\\n\`\`\``).exec(
      text,
    ) ?? []
  assert(code, `${page} has no tab ${title}`)
  return code
}

interface Language {
  readonly title: string
  readonly command: readonly string[]
  readonly file: string
  /** Installs the client in `home`, with what the program needs around it. */
  prepare?(): void
  program(setup: string, calls: readonly string[]): string
}

const variableOf = (code: string) => /(\w+)(?:, err :)? ?:?= /.exec(code)?.[1] ?? assert.fail(code)
const run = (command: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: home,
    encoding: 'utf8',
    env: environment,
  })
  assert.equal(status, 0, `${stdout}${stderr}`)
}
const environment = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), '/usr/bin', process.env['PATH']].join(delimiter),
  PYTHONPATH: join(home, 'clients/python/src'),
  PYTHONDONTWRITEBYTECODE: '1',
  GOFLAGS: '-mod=mod',
  GOPROXY: 'off',
  GOCACHE: join(home, 'go-cache'),
  GOPATH: join(home, 'go-path'),
  CREDENTIALS: join(home, 'data/sandbox-merchant.json'),
}

const languages: readonly Language[] = [
  {
    title: 'curl',
    command: ['/bin/sh', '-e'],
    file: 'tabs.sh',
    program: (setup, calls) =>
      [
        setup.replace('http://localhost:8080', gateway.url),
        ...calls.map((call) => `(${call}) | grep '"code":20000'`),
      ].join('\n'),
  },
  {
    title: 'TypeScript',
    command: ['node'],
    file: 'tabs.mts',
    program: (setup, calls) =>
      [setup, ...calls.map((call) => `{\n${call.replace(/^await/, 'const done = await')}\n}`)].join('\n'),
  },
  {
    title: 'Python',
    command: ['/usr/bin/python3'],
    file: 'tabs.py',
    program: (setup, calls) =>
      [setup, ...calls.flatMap((call) => [call, `assert ${variableOf(call)}`])].join('\n'),
  },
  {
    title: 'PHP',
    command: ['/usr/bin/php'],
    file: 'tabs.php',
    program: (setup, calls) =>
      [
        '<?php',
        ...setup.split('\n').slice(0, 1),
        "spl_autoload_register(fn ($name) => require 'clients/php/src/' . basename(strtr($name, '\\\\', '/')) . '.php');",
        ...setup.split('\n').slice(1),
        ...calls,
      ].join('\n'),
  },
  {
    title: 'Go',
    command: ['/usr/bin/go', 'run'],
    file: 'tabs.go',
    prepare() {
      run('go', 'mod', 'init', 'tabs')
      run(
        'go',
        'mod',
        'edit',
        '-require=tillgate.example/client@v0.1.0',
        '-replace=tillgate.example/client=./clients/go',
      )
    },
    program: (setup, calls) =>
      [
        'package main',
        'import ("context"; "log"; tillgate "tillgate.example/client")',
        'func check(given any, err error) { if err != nil { log.Fatal(err) } }',
        'func main() {',
        'ctx := context.Background()',
        setup,
        'check(client, err)',
        ...calls.map((call) => `{\n${call}\ncheck(${variableOf(call)}, err)\n}`),
        '}',
      ].join('\n'),
  },
  {
    title: 'Java',
    command: ['/usr/bin/java', '-cp', 'classes'],
    file: 'Tabs.java',
    prepare() {
      mkdirSync(join(home, 'classes'))
      run('javac', '-d', 'classes', ...globSync('clients/java/src/tillgate/*.java', { cwd: home }))
    },
    program: (setup, calls) =>
      [
        'import java.nio.file.Path;\nimport java.util.*;\nimport tillgate.Tillgate;',
        'public class Tabs {\npublic static void main(String[] args) throws Exception {',
        setup,
        ...calls.map((call) => `{\n${call}\n}`),
        '}\n}',
      ].join('\n'),
  },
]

const example = {
  paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W',
  linkId: 'L01K73ZQ800JZ7V3N4Q5R6S7T8W',
  callbackId: '01995f2d-8000-7000-8000-000000000002',
  payCode: '4015 2210 9933 8457',
}

/** A day on which the merchant has a bill. */
const billedDay = await (async () => {
  const { paymentId } = await order('billed')
  await pay(paymentId)
  await gateway.pool.query('update transfers set made_at = made_at - 172800000')
  await gateway.pool.query('delete from bill_turns')
  await gateway.operations.makeBills()
  return new Date(Date.now() - 172_800_000).toISOString().slice(0, 10)
})()

async function order(orderNo: string, captureMode?: 'manual') {
  const goods = [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: '25.00' }]
  return tillgate.orders.create({
    order: { orderNo, orderAmount: '25.00', goods },
    paymentAmount: '25.00',
    currency: 'EUR',
    callbackUrl,
    ...(captureMode && { captureMode }),
  })
}

async function pay(paymentId: string) {
  await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
  await tillgate.orders.waitUntilFinal(paymentId, { timeoutMs: 60_000 })
}

async function authorize(paymentId: string) {
  await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
  while ((await tillgate.orders.query(paymentId)).authorization?.expiresAt === undefined);
}

/** Of a wallet; it lives as long as the compilers need. */
async function payCode(): Promise<string> {
  const [session] = await gateway.operations.walletSessions.list(consumer.walletId)
  assert(session)
  const code = await gateway.operations.showPayCode(session)
  await gateway.pool.query('update pay_codes set expires_at = 9000000000000 where payment_id is null')
  return code?.digits ?? ''
}

/** The code with numbers that exist, in the state that the operation needs. */
async function placed(method: Method, code: string, language: string): Promise<string> {
  const number = `${language}-${method}`
  const isManual = /capture|release/.test(method)
  const { paymentId } = await order(number, isManual ? 'manual' : undefined)
  if (isManual) await authorize(paymentId)
  if (/refund|trade.callback|acknowledge/.test(method)) await pay(paymentId)
  const { rows } = await gateway.pool.query(
    'select callback_id from callbacks where payment_id = $1 limit 1',
    [paymentId],
  )
  const { linkId } = method.startsWith('service.link')
    ? await tillgate.links.create({ linkNo: `${number}-1`, title: 'Tea', currency: 'EUR', amount: '5.00' })
    : { linkId: '' }
  return code
    .replaceAll(example.paymentId, paymentId)
    .replaceAll(example.linkId, linkId)
    .replace(example.payCode, method === 'service.order.scan' ? await payCode() : '')
    .replaceAll(example.callbackId, rows[0]?.['callback_id'] ?? '')
    .replace(/A-1001|donation-2026/, `${number}-2`)
    .replace('2025-10-09', billedDay)
    .replace(/(waitMs\W+)\d+/, '$10')
}

for (const { title, command, file, prepare, program } of languages) {
  const [tool = ''] = command
  const isHere =
    spawnSync(tool, [tool.endsWith('go') ? 'version' : '--version'], { env: environment }).error === undefined
  test(`${title}: every tab of the API reference succeeds`, {
    skip: isHere ? false : `${tool} is not here`,
  }, async () => {
    prepare?.()
    const calls: string[] = []
    for (const method of Object.keys(methods) as Method[])
      calls.push(await placed(method, tabOf(`docs/api/${pageOf(method)}.md`, title), title))
    writeFileSync(join(home, file), program(tabOf('docs/api.md', title), calls))
    const [name = '', ...args] = command
    await promisify(execFile)(name, [...args, file], { cwd: home, env: environment, timeout: 300_000 }).catch(
      ({ stdout, stderr }) => assert.fail(`${stdout}\n${stderr}\n${readFileSync(join(home, file), 'utf8')}`),
    )
  })
}
