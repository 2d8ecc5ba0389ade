// What merchants install, as they install it: both packages built, packed, installed into an empty project, used
// from plain JavaScript and checked from TypeScript.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { callbackVectors, credentials } from './support/credentials.ts'

const root = resolve(import.meta.dirname, '../../..')
const home = mkdtempSync(join(tmpdir(), 'tillgate-package-'))
after(() => rmSync(home, { recursive: true, force: true }))

const run = async (command: string, args: readonly string[], cwd = home) => {
  const { stdout } = await promisify(execFile)(command, [...args], { cwd, timeout: 120_000 }).catch(
    (error) => {
      throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
    },
  )
  return stdout
}

async function packed(name: 'protocol' | 'sdk'): Promise<{ file: string; paths: string[] }> {
  const dist = join(home, `dist-${name}`)
  await run('node', [join(root, 'scripts/build-package.ts'), join(root, 'packages', name), dist])
  const [{ filename, files }] = JSON.parse(
    await run('npm', ['pack', '--json', '--pack-destination', home], dist),
  )
  return { file: join(home, filename), paths: files.map(({ path }: { path: string }) => path) }
}

const project = join(home, 'shop')
let sdkPaths: string[] = []

before(async () => {
  const [protocol, sdk] = await Promise.all([packed('protocol'), packed('sdk')])
  sdkPaths = sdk.paths
  await run('mkdir', ['shop'])
  write('package.json', JSON.stringify({ name: 'shop', private: true, type: 'module' }))
  const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', ...quiet, protocol.file, sdk.file], project)
})

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text)
}

test('the package holds JavaScript and types, its licence and readme, and nothing else', () => {
  for (const path of ['package.json', 'LICENSE', 'README.md', 'index.js', 'index.d.ts', 'cli/main.js'])
    assert.ok(sdkPaths.includes(path), path)
  const surplus = sdkPaths.filter((path) => !/^(package\.json|LICENSE|README\.md)$|\.js$|\.d\.ts$/.test(path))
  assert.deepEqual(surplus, [])
  assert.deepEqual(
    sdkPaths.filter((path) => /test|support/.test(path)),
    [],
  )
})

test('protocol is its only dependency', () => {
  const { dependencies, ...rest } = JSON.parse(
    readFileSync(join(project, 'node_modules/@tillgate/sdk/package.json'), 'utf8'),
  )
  assert.deepEqual(dependencies, { '@tillgate/protocol': '0.1.0' })
  assert.equal(rest.devDependencies ?? rest.scripts, undefined)
  const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))
  assert.deepEqual(installed.sort(), ['@tillgate', 'typebox'])
})

test('plain JavaScript uses it', async () => {
  write('credentials.json', JSON.stringify(credentials))
  write('callback.json', JSON.stringify(callbackVectors[0]?.envelope))
  write(
    'use.js',
    `import { readFileSync } from 'node:fs'
     import { Tillgate, TillgateError, isStale } from '@tillgate/sdk'
     const tillgate = Tillgate.fromFile('credentials.json', { maxRetries: 0, fetch: async () => { throw new Error('no network') } })
     const event = await tillgate.callbacks.unwrap(readFileSync('callback.json'))
     const error = await tillgate.orders.query('P1').catch((error) => error)
     console.log(JSON.stringify([event.eventName, isStale('success', event), error instanceof TillgateError, error.name]))`,
  )
  assert.deepEqual(JSON.parse(await run('node', ['use.js'], project)), [
    'payment.order.confirming',
    true,
    true,
    'ConnectionError',
  ])
})

test('the command line is installed with it', async () => {
  const till = join(project, 'node_modules/.bin/till')
  assert.equal(await run(till, ['--version'], project), '0.1.0\n')
  const output = await run(
    till,
    ['debug-signature', 'callback.json', '--credentials', 'credentials.json'],
    project,
  )
  assert.match(output, /decrypted and verified/)
})

test('TypeScript finds its types, and they refuse what is wrong', async () => {
  write(
    'use.ts',
    `import { createServer } from 'node:http'
     import { type CallbackEvent, ConflictError, isStale, type OrderStatus, Tillgate } from '@tillgate/sdk'
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
     export { field, mixed, response, wrong }`,
  )
  const options = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    skipLibCheck: false,
  }
  write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: ['use.ts'] }))
  await run('tsc', ['--project', 'tsconfig.json'], project)
})
