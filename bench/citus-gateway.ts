// `TEST_CITUS_URLS="…" node bench/citus-gateway.ts [rounds] [orders]`: orders created and paid through a whole gateway,
// both callbacks delivered, on the spread tables of a cluster and on plain ones of its coordinator alone, in turns. Any
// answer but 200 ends it.

import { fork } from 'node:child_process'
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAesKey, sealRequest } from '@tillgate/protocol'
import { type ConnectionOptions, withDatabase } from '../packages/gateway/src/platform/database/connection.ts'
import { migrate } from '../packages/gateway/src/platform/database/migrate.ts'
import { bindMode } from '../packages/gateway/src/platform/database/mode.ts'
import { openPool } from '../packages/gateway/src/platform/database/pool.ts'
import { makeVault } from '../packages/gateway/src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../packages/gateway/test/support/acting.ts'
import { copyOnNodes, dropOnNodes } from '../packages/gateway/test/support/cluster.ts'
import { testOperations } from '../packages/gateway/test/support/operations.ts'
import { command, migrationsFolder, startTestServer, urlOf } from '../packages/gateway/test/support/server.ts'
import { inTurn, median } from './figures.ts'
import { openShop, type Paying, payRound } from './scenarios/paid-orders.ts'

const [rounds = 5, count = 600] = process.argv.slice(2).map(Number)
const merchantCount = 20

const server = await startTestServer()
const nodes = [server.connection, ...server.workers]
const name = `bench_${process.pid}`
const folder = await mkdtemp(join(tmpdir(), 'tillgate-bench-'))
const masterKey = randomBytes(32)
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const shop = await openShop()
const stops: (() => Promise<void>)[] = []
try {
  await copyOnNodes(nodes, { from: server.template, to: `${name}_spread` })
  await command(server.connection, `create database ${name}_plain`)
  const places = { spread: await open(`${name}_spread`), plain: await open(`${name}_plain`) }
  for (const place of Object.values(places)) await payRound(place, count)
  const rates = await inTurn(rounds, {
    spread: () => payRound(places.spread, count),
    plain: () => payRound(places.plain, count),
  })
  const [spread, plain] = [median(rates.spread), median(rates.plain)]
  const all = Object.values(rates)
    .map((each) => each.map((rate) => rate.toFixed(0)).join(' '))
    .join(' | ')
  console.log(
    `spread over plain: ${(spread / plain).toFixed(2)} (${spread.toFixed(0)} and ${plain.toFixed(0)} paid orders/s; ${all})`,
  )
} finally {
  for (const stop of stops) await stop()
  shop.close()
  await dropOnNodes(nodes, `${name}_spread`)
  await dropOnNodes([server.connection], `${name}_plain`)
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}

async function open(database: string): Promise<Paying> {
  const connection = withDatabase(server.connection, database)
  const pool = openPool(connection, { max: 1, statementTimeoutMs: 0 })
  await migrate(pool, migrationsFolder)
  await bindMode(pool, { mode: 'sandbox', isModeGiven: true })
  const { merchants } = actingAs(testOperations(pool, { vault: makeVault(masterKey) }).operations, 'bench')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const keys: { merchantId: string; aesKey: KeyObject }[] = []
  for (let number = 0; number < merchantCount; number++) {
    const { merchant, aesKey } = await merchants.addMerchant({ name: `Bench ${number}`, publicKey: pem })
    keys.push({ merchantId: merchant.merchantId, aesKey: parseAesKey(aesKey) })
  }
  await pool.close()
  return {
    url: await startGateway(connection),
    shop,
    // A body's place says whose it is, so that each order is paid in the name of who made it.
    seal: (method, bodies) =>
      Promise.all(
        bodies.map(async (body, index) => {
          const key = keys[index % merchantCount]
          if (!key) throw new Error('there are no merchants')
          const request = {
            merchantId: key.merchantId,
            method,
            timestamp: Date.now(),
            body: JSON.stringify(body),
          }
          return JSON.stringify(await sealRequest(request, { aesKey: key.aesKey, privateKey }))
        }),
      ),
  }
}

async function startGateway(connection: ConnectionOptions): Promise<string> {
  const child = fork(join(import.meta.dirname, 'servers/gateway.ts'), {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: urlOf(connection),
      MASTER_KEY: masterKey.toString('base64'),
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      LOG_LEVEL: 'warn',
      MERCHANT_REQUESTS_PER_SECOND: '1000000',
    },
  })
  stops.push(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  const [url] = await once(child, 'message')
  return url
}
