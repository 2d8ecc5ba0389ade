// Every block of code in every paper is run here, or says why it is not. The line before a block says which:
//   <!-- run: shell -->            the lines succeed in a shell, beside a sandbox that runs
//   <!-- run: settings -->         lines of a .env that the gateway takes
//   <!-- not run: the reason -->   nobody runs it
// Blocks of the language `text` are pictures and listings, not code.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseEnv, promisify } from 'node:util'
import { lexer } from 'marked'
import { readConfig } from '../packages/gateway/src/app/settings/config.ts'
import { settings } from '../packages/gateway/src/app/settings/settings.ts'
import { startTestGateway } from '../packages/gateway/test/support/gateway.ts'
import type { Method } from '../packages/protocol/src/methods.ts'
import { Tillgate } from '../packages/sdk/src/index.ts'
import { operations } from '../scripts/documentation/operations.ts'

interface Block {
  readonly paper: string
  readonly language: string
  readonly code: string
  readonly mark: string
}

const root = join(import.meta.dirname, '..')
const blocks = globSync(
  ['*.md', 'docs/**/*.md', '{clients,examples,integrations,rails}/**/*.md', 'packages/*/README.md'],
  {
    cwd: root,
    exclude: (name) => name.includes('node_modules'),
  },
)
  .sort()
  .flatMap(blocksOf)

function blocksOf(paper: string): Block[] {
  // A comment and the block after it are two tokens, also inside a list.
  const tokens = flat(lexer(readFileSync(join(root, paper), 'utf8'))).filter(({ type }) => type !== 'space')
  return tokens.flatMap((token, index) => {
    if (token.type !== 'code' || token.lang === 'text') return []
    const before = tokens[index - 1]
    const [, mark = ''] =
      (before?.type === 'html' && /<!-- ((?:not )?run: .+?) -->\s*$/.exec(before.raw)) || []
    return [{ paper, language: token.lang ?? '', code: token.text ?? '', mark }]
  })
}

interface Token {
  readonly type: string
  readonly raw: string
  readonly lang?: string
  readonly text?: string
  readonly items?: readonly { readonly tokens?: readonly Token[] }[]
}

function flat(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => [token, ...flat((token.items ?? []).flatMap((item) => item.tokens ?? []))])
}

// One sandbox for all papers, and a folder like the one that its reader stands in.
const gateway = await startTestGateway()
const home = mkdtempSync(join(tmpdir(), 'tillgate-papers-'))
const children: ChildProcess[] = []
after(async () => {
  await Promise.all(children.map(end))
  rmSync(home, { recursive: true, force: true })
})
for (const name of ['node_modules', 'examples', 'docs']) symlinkSync(join(root, name), join(home, name))
symlinkSync(gateway.config.dataDir, join(home, 'data'))
// npx and npm take half a second each to find what is beside them; the quickstart's test uses the real ones.
mkdirSync(join(home, 'bin'))
writeFileSync(join(home, 'bin/npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 })
writeFileSync(
  join(home, 'bin/npm'),
  `#!/bin/sh\n[ "$1 $2 $3" = "run tillgate --" ] || exit 64\nshift 3\nexec node ${root}/packages/gateway/tillgate.js "$@"\n`,
  { mode: 0o755 },
)
const environment = {
  ...process.env,
  PATH: [join(home, 'bin'), join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
  DATA_DIR: gateway.config.dataDir,
  DATABASE_URL: gateway.config.databaseUrl,
  MASTER_KEY: gateway.config.masterKey?.toString('base64'),
  PYTHONDONTWRITEBYTECODE: '1',
}
const credentialsFile = join(home, 'data/sandbox-merchant.json')
const tillgate = Tillgate.fromFile(credentialsFile)
/** For a program that reads them from its environment: gatewayUrl is TILLGATE_GATEWAY_URL. */
const credentials = Object.fromEntries(
  Object.entries<string>(JSON.parse(readFileSync(credentialsFile, 'utf8'))).map(([name, value]) => [
    `TILLGATE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`,
    value,
  ]),
)

// Somebody who answers callbacks, for commands that make them happen: a host that fails is tried less and less often.
const answering = createServer((_request, response) => response.end('{"code":20000,"msg":""}')).listen(0)
after(() => answering.close())
await once(answering, 'listening')
const answeringPort = portOf(answering)

/** As the paper says it, but for ports that are free. */
function placed(code: string, port = answeringPort): string {
  return code.replaceAll('localhost:3000', `localhost:${port}`).replaceAll('listen(3000)', `listen(${port})`)
}

async function run(command: string, args: readonly string[]): Promise<string> {
  const running = promisify(execFile)(command, args, { cwd: home, env: environment, timeout: 300_000 })
  running.child.stdin?.end()
  return running.then(
    ({ stdout }) => stdout,
    (error) => assert.fail(`${args.join(' ')}\n${error.stdout}\n${error.stderr}`),
  )
}

/** Starts what does not end by itself; resolves when it has said what is waited for. */
async function start(command: string, args: readonly string[], env: NodeJS.ProcessEnv = environment) {
  const child = spawn(command, args, { cwd: home, env })
  children.push(child)
  let output = ''
  const heard = new EventTarget()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      heard.dispatchEvent(new Event('text'))
    })
  }
  child.on('close', () => heard.dispatchEvent(new Event('text')))
  return {
    child,
    async says(pattern: RegExp): Promise<void> {
      while (!pattern.test(output)) {
        assert.equal(child.exitCode, null, `it ended before it said ${pattern}:\n${output}`)
        await once(heard, 'text', { signal: AbortSignal.timeout(30_000) })
      }
    },
  }
}

/** Until something takes connections at the port. */
async function isOpen(port: number): Promise<void> {
  for (const deadline = performance.now() + 30_000; ; await pause(20)) {
    const socket = connect(port, 'localhost')
    const [name] = await Promise.race([
      once(socket, 'connect').then(() => ['connect']),
      once(socket, 'close').then(() => ['close']),
    ]).catch(() => ['close'])
    socket.destroy()
    if (name === 'connect') return
    assert(performance.now() < deadline, 'nothing listens at the port')
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill('SIGINT')
  await ended
}

function isHere(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

const vectors = JSON.parse(readFileSync(join(root, 'docs/test-vectors.json'), 'utf8'))
const sdkBlocks = blocks.filter(({ mark }) => mark === 'run: sdk').map(({ code }) => code)
let sdkRun: Promise<string> | undefined

const runners: Readonly<Record<string, (block: Block) => Promise<unknown> | unknown>> = {
  // The test of the quickstart has the lines by heart and fails for one that it does not know.
  quickstart: ({ paper }) => assert.equal(paper, 'README.md'),
  // The suite of the clients runs them, in a folder of their own.
  client: ({ paper }) => assert.match(paper, /^clients\//),
  // test/api-tabs.test.ts runs them, with the numbers of real orders.
  tab: ({ paper }) => assert.match(paper, /^docs\/api(\.md|\/)/),
  shell: ({ code }) => run('sh', ['-e', '-c', placed(code)]),
  /** Lines of a .env: names that there are, with values that are taken. */
  settings({ code }) {
    const given = parseEnv(code)
    assert(Object.keys(given).length > 0)
    for (const name of Object.keys(given))
      assert(Object.hasOwn(settings, name), `there is no setting ${name}`)
    readConfig({ ...given, DATA_DIR: home })
  },
  json: ({ code }) => JSON.parse(code),
  answer: ({ code }) => assert.equal(JSON.parse(code).code, 20000),
  vectors({ language, code }) {
    const known = [...vectors.requests, ...vectors.callbacks].flatMap(({ body, envelope, stringToSign }) =>
      language === 'json' ? [JSON.parse(body), envelope] : [stringToSign],
    )
    const said = language === 'json' ? JSON.parse(code) : code
    assert(known.some((each) => JSON.stringify(each) === JSON.stringify(said)))
  },
  /** One program in several blocks, as one reads it. */
  sdk() {
    sdkRun ??= (() => {
      writeFileSync(join(home, 'sdk.mjs'), placed(sdkBlocks.join('\n')))
      return run('node', ['sdk.mjs'])
    })()
    return sdkRun
  },
  /** A program that takes callbacks: an order is paid, and it says so. */
  async listener({ code }) {
    const file = join(home, 'listener.mjs')
    const port = await freePort()
    writeFileSync(file, placed(code, port))
    const listener = await start('node', [file], { ...environment, ...credentials })
    try {
      await isOpen(port)
      const orderNo = `papers-${Date.now()}`
      const goods = [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: 5 }]
      const { paymentId } = await tillgate.orders.create({
        order: { orderNo, orderAmount: 5, goods },
        paymentAmount: 5,
        currency: 'EUR',
        callbackUrl: `http://localhost:${port}/callbacks`,
      })
      await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
      await listener.says(new RegExp(orderNo))
    } finally {
      await end(listener.child)
    }
  },
  async listen({ code }) {
    const [, ...args] = placed(code).trim().split(' ')
    const listening = await start('till', args.slice(1))
    await listening.says(/listening|waiting/i)
    await end(listening.child)
  },
  async 'python vectors'({ code }) {
    if (!isHere('python3', '-c', 'import cryptography')) return
    writeFileSync(join(home, 'page.py'), `${code}\n${pythonCheck}`)
    assert.equal(
      (await run('python3', ['page.py'])).trim(),
      `${vectors.requests.length + vectors.callbacks.length + vectors.refusedCallbacks.length}`,
    )
  },
}

const pythonCheck = `
vectors = json.load(open("docs/test-vectors.json", encoding="utf-8"))
keys, right = vectors["keys"], 0
merchant_id = vectors["callbacks"][0]["envelope"]["merchantId"]
def opened(text):
    return open_callback(text, merchant_id, [keys["merchant"]["aesKey"]], [keys["gateway"]["publicKey"]])
for v in vectors["requests"]:
    e = v["envelope"]
    made = seal(e["merchantId"], e["method"], v["body"], keys["merchant"]["aesKey"], keys["merchant"]["privateKey"],
                e["timestamp"], bytes.fromhex(v["nonceHex"]))
    right += (made["sign"], made["body"]) == (e["sign"], e["body"])
for v in vectors["callbacks"]:
    right += opened(json.dumps(v["envelope"])) == json.loads(v["body"])
right += sum(opened(v["text"]) is None for v in vectors["refusedCallbacks"])
print(right)
`

test('every block of code says whether and how it is run, or why it is not', () => {
  assert(blocks.length > 40)
  const unmarked = blocks.filter(({ mark }) => {
    const [, runner = ''] = /^run: (.+)$/.exec(mark) ?? []
    return !Object.hasOwn(runners, runner) && !/^not run: .{10,}$/.test(mark)
  })
  assert.deepEqual(
    unmarked.map(({ paper, code, mark }) => `${paper}: ${mark || 'no mark'}: ${code.split('\n')[0]}`),
    [],
  )
})

for (const [paper, of] of Map.groupBy(blocks, ({ paper }) => paper)) {
  const running = of.filter(({ mark }) => mark.startsWith('run: '))
  if (running.length === 0) continue
  test(`${paper}: its ${running.length} blocks do what they say`, async () => {
    for (const block of running) await runners[block.mark.slice('run: '.length)]?.(block)
  })
}

test('the answers in the API reference have the fields that a gateway answers with', async () => {
  const merchant = await gateway.addMerchant()
  const shapes = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.slice(0, 1).map(shapes)
    if (typeof value !== 'object' || value === null) return typeof value
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, inner]) => [name, shapes(inner)])
        .sort(),
    )
  }
  const asks = async (method: Method, body: object) => {
    const { code, msg, data } = await merchant.call(method, body)
    assert.equal(code, 20000, `${method}: ${msg}`)
    return data
  }
  const agrees = async (method: Method, body: object) => {
    const data = await asks(method, body)
    assert.deepEqual(shapes(data), shapes(operations[method].exampleAnswer), method)
    return data
  }
  const create = (orderNo: string) => {
    const goods = [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: 5 }]
    const now = Date.now()
    return agrees('service.trade.create', {
      order: { orderNo, orderAmount: 5, goods },
      channel: 'WEB',
      paymentAmount: 5,
      currency: 'EUR',
      paymentTime: now,
      paymentExpiryTime: now + 600_000,
      callbackUrl: `http://localhost:${answeringPort}/`,
    })
  }
  const until = async (paymentId: string, status: string) => {
    for (const deadline = performance.now() + 30_000; ; await pause(20)) {
      if ((await asks('service.trade.query', { paymentId })).status === status) return
      assert(performance.now() < deadline, `it did not become ${status}`)
    }
  }

  const { paymentId } = await create('papers-1')
  await agrees('service.sandbox.pay', { paymentId, outcome: 'success' })
  await until(paymentId, 'success')
  await agrees('service.trade.refund', { paymentId, referRefundNo: 'papers-1', refundAmount: 2 })
  await until(paymentId, 'refund_success')
  await agrees('service.trade.query', { paymentId })
  await agrees('service.trade.callback', { paymentId })
  // As if it had been the day before yesterday, because a day is billed when it is over.
  const { merchantId } = merchant
  await gateway.pool.query('update transfers set made_at = made_at - 172800000 where merchant_id = $1', [
    merchantId,
  ])
  await gateway.pool.query('delete from bill_turns where merchant_id = $1', [merchantId])
  await gateway.operations.makeBills()
  await agrees('service.bill.get', { date: new Date(Date.now() - 172_800_000).toISOString().slice(0, 10) })
  const { linkId, linkUrl } = await agrees('service.link.create', {
    linkNo: 'papers',
    title: 'Tea',
    currency: 'EUR',
    leastAmount: 1,
    mostAmount: 5,
  })
  const begun = await pressLink(linkUrl, '3')
  await asks('service.sandbox.pay', { paymentId: begun, outcome: 'success' })
  await until(begun, 'success')
  await agrees('service.link.query', { linkId })
  await agrees('service.link.close', { linkId })
  await agrees('service.sandbox.listen', {})
  const another = await create('papers-2')
  await agrees('service.trade.cancel', { paymentId: another.paymentId })
  await agrees('service.sandbox.advance', { paymentId: another.paymentId, milliseconds: 1 })
})

/** As a consumer who says how much; answers the paymentId of the order that it begins. */
async function pressLink(linkUrl: string, amount: string): Promise<string> {
  const page = await (await fetch(linkUrl)).text()
  const number = /name="number" value="([0-9a-f]+)"/.exec(page)?.[1] ?? ''
  const body = new URLSearchParams({ number, amount })
  const answered = await fetch(linkUrl, { method: 'POST', redirect: 'manual', body })
  assert.equal(answered.status, 303)
  return (answered.headers.get('location') ?? '').split('/')[3] ?? ''
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const free = portOf(server)
  await new Promise((done) => server.close(done))
  return free
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
