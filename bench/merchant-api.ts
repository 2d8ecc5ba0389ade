// Creates and queries a second, against a bare program on the same PostgreSQL, in one run, alternating:
// `node bench/merchant-api.ts [create] [single] [query]`. Everything runs on this machine and is gone afterwards.
// NODE_OPTIONS_GATEWAY=--cpu-prof profiles the gateway.
import { fork } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAesKey, sealRequest } from '@tillgate/protocol'
import { systemClock } from '../packages/gateway/src/clock.ts'
import { startEmbedded } from '../packages/gateway/src/database/embedded.ts'
import { migrate } from '../packages/gateway/src/database/migrate.ts'
import { openPool } from '../packages/gateway/src/database/pool.ts'
import { makeManageMerchants } from '../packages/gateway/src/operations/manage-merchants.ts'
import { makeMerchantStore } from '../packages/gateway/src/store/merchants.ts'
import { makeVault } from '../packages/gateway/src/vault.ts'
import { type LoadResult, load, median } from './load.ts'

const scenarios = process.argv.length > 2 ? process.argv.slice(2) : ['create', 'single', 'query']
const rounds = Number(process.env['ROUNDS'] ?? 5)
const perRound = Number(process.env['PER_ROUND'] ?? 3000)
const connections = 64
const here = import.meta.dirname

const dataDir = mkdtempSync(join(tmpdir(), 'tillgate-api-bench-'))
const embedded = await startEmbedded({ dataDir })
const pool = openPool(embedded.connection, { max: 2 })
const children: ReturnType<typeof fork>[] = []
const cpu: Record<string, { server: number; postgres: number }[]> = {}
try {
  await migrate(pool, join(here, '../packages/gateway/migrations'))
  await pool.query('create table bare_orders (like orders including all)')
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const masterKey = randomBytes(32)
  const manage = makeManageMerchants({
    merchants: makeMerchantStore(pool),
    vault: makeVault(masterKey),
    clock: systemClock,
    random: randomBytes,
    actor: 'bench',
  })
  const { merchant, aesKey } = await manage.addMerchant({ name: 'Bench', publicKey: publicKeyPem })
  const { merchantId } = merchant
  const databaseUrl = urlOf(embedded.connection)

  const bare = await start('bare-server.ts', {
    BENCH: JSON.stringify({ databaseUrl, aesKey, publicKey: publicKeyPem }),
  })
  const gateway = await start('gateway-server.ts', {
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey.toString('base64'),
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    LOG_LEVEL: 'warn',
    MERCHANT_REQUESTS_PER_SECOND: '1000000',
  })

  const seal = async (method: string, body: object) =>
    JSON.stringify(
      await sealRequest(
        { merchantId, method, timestamp: Date.now(), body: JSON.stringify(body) },
        { aesKey: parseAesKey(aesKey), privateKey },
      ),
    )
  const creates = (count: number) =>
    Promise.all(Array.from({ length: count }, () => seal('service.trade.create', createBody(Date.now()))))

  const targets = { bare, gateway }
  const results: Record<string, LoadResult[]> = {}
  const note = (name: string, result: LoadResult) => {
    results[name] ??= []
    results[name].push(result)
  }
  const ids: Record<string, string[]> = { bare: [], gateway: [] }
  const warm = await creates(300)
  for (const url of Object.values(targets)) await load(url, { requests: warm, connections })

  for (let round = 0; round < rounds; round++) {
    const requests = await creates(perRound)
    for (const [name, url] of inTurn(targets, round)) {
      const result = await withCpu(`create ${name}`, () => load(url, { requests, connections }))
      ids[name] = result.answers.map((text) => JSON.parse(text).data.paymentId)
      note(`create ${name}`, result)
    }
    const singles = await creates(scenarios.includes('single') ? 200 : 0)
    for (const [name, url] of inTurn(targets, round))
      note(`single ${name}`, await load(url, { requests: singles, connections: 1 }))
  }
  const queries: Record<string, string[]> = {}
  for (const name of scenarios.includes('query') ? Object.keys(targets) : []) {
    queries[name] = await Promise.all(
      (ids[name] ?? []).slice(0, 1000).map((paymentId) => seal('service.trade.query', { paymentId })),
    )
  }
  for (let round = 0; scenarios.includes('query') && round < rounds; round++) {
    for (const [name, url] of inTurn(targets, round)) {
      const requests = Array.from({ length: perRound }, (_, index) => queries[name]?.[index % 1000] ?? '')
      note(`query ${name}`, await withCpu(`query ${name}`, () => load(url, { requests, connections })))
    }
  }

  for (const what of scenarios) {
    const rate = (name: string) =>
      median((results[`${what} ${name}`] ?? []).map(({ perSecond }) => perSecond))
    const p50 = (name: string) => median((results[`${what} ${name}`] ?? []).map(({ p50Ms }) => p50Ms))
    const micros = (name: string) => {
      const rounds = cpu[`${what} ${name}`] ?? []
      return `${median(rounds.map(({ server }) => server)).toFixed(0)}+${median(rounds.map(({ postgres }) => postgres)).toFixed(0)}`
    }
    const own = median((results[`${what} gateway`] ?? []).map(({ ownCpu }) => ownCpu))
    console.log(
      `${what.padEnd(7)} gateway ${rate('gateway').toFixed(0)}/s p50 ${p50('gateway').toFixed(2)} ms   ` +
        `bare ${rate('bare').toFixed(0)}/s p50 ${p50('bare').toFixed(2)} ms   ` +
        `cpu µs server+postgres ${micros('gateway')} against ${micros('bare')}   ratio ${(rate('gateway') / rate('bare')).toFixed(2)}   generator ${(own * 100).toFixed(0)} % of a core`,
    )
  }
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(children.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined)))
  await pool.close()
  await embedded.stop()
  rmSync(dataDir, { recursive: true })
}

/** CPU that the server and PostgreSQL spent on one request, in microseconds, by the kernel's own count. */
async function withCpu(name: string, work: () => Promise<LoadResult>): Promise<LoadResult> {
  const before = cpuMicros()
  const result = await work()
  const after = cpuMicros()
  cpu[name] ??= []
  cpu[name].push({
    server: (after.server - before.server) / result.answers.length,
    postgres: (after.postgres - before.postgres) / result.answers.length,
  })
  return result
}

function cpuMicros(): { server: number; postgres: number } {
  const postmaster = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
  const backends = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
  const sum = (pids: readonly (string | number | undefined)[]) =>
    pids.map(cpuOf).reduce((total, micros) => total + micros, 0)
  return { server: sum(children.map(({ pid }) => pid)), postgres: sum(backends) }
}

/** Fields 14 and 15 of the stat file, after the name in brackets, in hundredths of a second. */
function cpuOf(pid: string | number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return 0
  }
}

async function start(script: string, environment: Record<string, string>): Promise<string> {
  const execArgv = script.startsWith('gateway')
    ? (process.env['NODE_OPTIONS_GATEWAY'] ?? '').split(' ').filter(Boolean)
    : []
  const child = fork(join(here, script), { execArgv, env: { PATH: process.env['PATH'], ...environment } })
  children.push(child)
  const [address] = await once(child, 'message')
  return typeof address === 'string' ? address : `http://127.0.0.1:${address.port}`
}

/** One first in even rounds, the other in odd ones. */
function inTurn(targets: Record<string, string>, round: number): [string, string][] {
  const entries = Object.entries(targets)
  return round % 2 === 0 ? entries : entries.reverse()
}

function urlOf(connection: typeof embedded.connection): string {
  if ('connectionString' in connection) return connection.connectionString
  const { host, port, user, database } = connection
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
}

function createBody(now: number): object {
  const orderNo = randomBytes(12).toString('hex')
  return {
    order: {
      orderNo,
      orderAmount: 12.5,
      orderDescription: 'Two teas and a cup, gift wrapped, to be picked up on Saturday',
      goods: [
        {
          referenceGoodsId: 'tea-1',
          goodsName: 'Green tea',
          goodsDesc: 'Loose leaves',
          goodsAmount: 5,
          goodsQuantity: 2,
        },
        { referenceGoodsId: 'cup-1', goodsName: 'Cup', goodsAmount: 2.5, goodsQuantity: 1 },
      ],
    },
    channel: 'WEB',
    paymentAmount: 12.5,
    currency: 'USD',
    paymentTime: now,
    paymentExpiryTime: now + 1_800_000,
    callbackUrl: 'http://shop.example/callbacks',
    redirectUrl: 'http://shop.example/thanks',
  }
}
