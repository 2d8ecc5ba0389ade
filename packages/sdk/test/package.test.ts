// What merchants install, as they install it: from a gateway, into an empty project, on every Node.js of this machine.
// A payment goes through, and TypeScript and CommonJS find their way.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { sdkPackageFiles } from '../../gateway/src/adapters/merchant-api/sdk/package-files.ts'
import { startTestGateway } from '../../gateway/test/support/gateway.ts'
import { callbackVectors, credentials as vectorCredentials } from './support/credentials.ts'

const root = resolve(import.meta.dirname, '../../..')
const home = mkdtempSync(join(tmpdir(), 'tillgate-package-'))
after(() => rmSync(home, { recursive: true, force: true }))
const gateway = await startTestGateway()

const run = async (command: string, args: readonly string[], cwd = project) => {
  const { stdout } = await promisify(execFile)(command, [...args], { cwd, timeout: 300_000 }).catch(
    (error) => {
      throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
    },
  )
  return stdout
}

const project = join(home, 'shop')
const installed = join(project, 'node_modules/@tillgate/sdk')
const write = (name: string, text: string) => writeFileSync(join(project, name), text)
// A registry that is not there: the package brings everything along.
const quiet = ['--registry=http://127.0.0.1:9', '--ignore-scripts', '--no-audit', '--no-fund']

before(async () => {
  mkdirSync(project)
  await run('npm', ['install', ...quiet, `${gateway.url}/sdk/tillgate-sdk.tgz`])
  const { merchantId, aesKey, privateKey } = await gateway.addMerchant()
  const { keys } = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
    keys: { publicKey: string }[]
  }
  const credentials = {
    gatewayUrl: gateway.url,
    merchantId,
    aesKey: aesKey.export().toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    platformPublicKey: keys.map(({ publicKey }) => publicKey),
  }
  write('credentials.json', JSON.stringify(credentials))
})

/** One of each version among those that PATH leads to. */
const nodes = new Map<string, string>()
for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
  const path = join(folder, 'node')
  const found = /^v(\d+)/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
  if (found !== undefined && !nodes.has(found)) nodes.set(found, path)
}

const takeAPayment = `
  const server = createServer((request, response) => handler.node(request, response)).listen(0, async () => {
    const callbackUrl = \`http://127.0.0.1:\${server.address().port}/callbacks\`
    const order = { orderNo: \`\${process.version}-\${Date.now()}\`, orderAmount: '25.00', goods: [{ referenceGoodsId: 's', goodsName: 'Shirt', goodsAmount: 25 }] }
    const { paymentId } = await tillgate.orders.create({ order, paymentAmount: '25.00', currency: 'USD', callbackUrl })
    await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
  })
  const tillgate = Tillgate.fromFile('credentials.json')
  const events = []
  const handler = tillgate.callbacks.handler(async ({ kind, eventName, result }) => {
    events.push(eventName)
    if (eventName === 'payment.order.success')
      await tillgate.refunds.create({ paymentId: result.paymentId, referRefundNo: \`\${result.referOrderNo}-R\`, refundAmount: 5 })
    if (kind === 'refund') setTimeout(() => { console.log(JSON.stringify(events.sort())); process.exit() }, 100)
  })`
const everyEvent = ['payment.order.confirming', 'payment.order.success', 'payment.refund.success']

for (const wanted of ['20', '24']) {
  test(`a payment and a refund go through on Node.js ${wanted}, from a module and from CommonJS`, async (t) => {
    const node = nodes.get(wanted)
    if (!node) return t.skip(`there is no Node.js ${wanted} on this machine`)
    write(
      'use.mjs',
      `import { createServer } from 'node:http'\nimport { Tillgate } from '@tillgate/sdk'\n${takeAPayment}`,
    )
    write(
      'use.cjs',
      `const { createServer } = require('node:http')\nconst { Tillgate } = require('@tillgate/sdk')\n${takeAPayment}`,
    )
    for (const file of ['use.mjs', 'use.cjs'])
      assert.deepEqual(JSON.parse(await run(node, [file])), everyEvent, file)
    const till = join(installed, 'dist/cli/main.js')
    const order = JSON.parse(
      await run(node, [
        till,
        'trigger',
        'payment.order.success',
        '--credentials',
        'credentials.json',
        '--json',
      ]),
    )
    assert.equal(order.paymentStatus, 'success')
  })
}

test('the command line is installed with it', async () => {
  write('vectors.json', JSON.stringify(vectorCredentials))
  write('callback.json', JSON.stringify(callbackVectors[0]?.envelope))
  const till = join(project, 'node_modules/.bin/till')
  assert.equal(await run(till, ['--version']), '1.0.0\n')
  const output = await run(till, ['debug-signature', 'callback.json', '--credentials', 'vectors.json'])
  assert.match(output, /decrypted and verified/)
})

test('it is the only package installed, with code, types and licences and nothing else', () => {
  const all = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))
  assert.deepEqual(all, ['@tillgate'])
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  )
  const surplus = files
    .map(({ name }) => name)
    .filter(
      (name) => !/^(package\.json|LICENSE|license|README\.md|CHANGELOG\.md)$|\.m?js$|\.d\.ts$/.test(name),
    )
  assert.deepEqual(surplus, [])
})

test('npm pack makes the same files by itself, and leaves the sources as they were', async () => {
  const copy = join(home, 'repository')
  const parts = [
    'packages/sdk',
    'packages/gateway/src/adapters/merchant-api/sdk',
    'packages/gateway/package.json',
  ]
  for (const path of [...parts, 'scripts/build-sdk.ts', 'package.json', 'LICENSE'])
    cpSync(join(root, path), join(copy, path), { recursive: true, filter: (name) => !name.endsWith('dist') })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const folder = join(copy, 'packages/sdk')
  const before = readFileSync(join(folder, 'package.json'), 'utf8')
  const [{ filename }] = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', home], folder))
  assert.equal(readFileSync(join(folder, 'package.json'), 'utf8'), before)
  await run('tar', ['xzf', filename], home)
  for (const { path, content } of sdkPackageFiles())
    assert.equal(readFileSync(join(home, 'package', path), 'utf8'), content, path)
})

const typed = `import { createServer } from 'node:http'
import { type CallbackEvent, ConflictError, isStale, type OrderStatus, Tillgate } from '@tillgate/sdk'
export async function use() {
  const tillgate = Tillgate.fromEnvironment()
  const goods = [{ referenceGoodsId: 's', goodsName: 'Shirt', goodsAmount: '12.50', goodsQuantity: 2 }]
  const order = { orderNo: 'A-1', orderAmount: 25, goods }
  const { checkoutUrl } = await tillgate.orders.create({ order, paymentAmount: '25.00', currency: 'USD' })
  const url: string = checkoutUrl
  const known: OrderStatus = (await tillgate.orders.waitUntilFinal('P1', { timeoutMs: 1000 })).paymentStatus
  const handler = tillgate.callbacks.handler((event: CallbackEvent) => {
    if (event.kind === 'order' && !isStale(known, event)) return event.result.paymentAmount
    if (event.kind === 'refund') return event.result.refundId
    return event.id
  })
  createServer(handler.node)
  const response: Response = await handler.fetch(new Request(url, { method: 'POST', body: '' }))
  const field = (error: unknown): string | undefined => (error instanceof ConflictError ? error.field : undefined)
  // @ts-expect-error an order has no such status
  const wrong: OrderStatus = 'paid'
  // @ts-expect-error the amount is missing
  tillgate.refunds.create({ paymentId: 'P1', referRefundNo: 'r' })
  // @ts-expect-error a refund's event is not compared with an order's status
  const mixed = (event: CallbackEvent) => event.kind === 'refund' && isStale('success', event)
  return { field, mixed, response, wrong }
}`

const resolutions = [
  { name: 'nodenext', file: 'use.mts', options: { module: 'nodenext' } },
  { name: 'nodenext from CommonJS', file: 'use.cts', options: { module: 'nodenext' } },
  { name: 'bundler', file: 'use.ts', options: { module: 'esnext', moduleResolution: 'bundler' } },
]
for (const { name, file, options } of resolutions) {
  test(`TypeScript finds its types by ${name}, and they refuse what is wrong`, async () => {
    write(file, typed)
    const compilerOptions = {
      ...options,
      target: 'es2023',
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      skipLibCheck: false,
    }
    write('tsconfig.json', JSON.stringify({ compilerOptions, files: [file] }))
    await run('tsc', ['--project', 'tsconfig.json'])
  })
}
