// A whole gateway in this process on a fresh database, and merchants that speak to it over real HTTP. Gone again
// when the test file is done.

import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { after } from 'node:test'
import { type AesKey, parseAesKey, sealRequest } from '@tillgate/protocol'
import { pino } from 'pino'
import { pair } from '../../../protocol/test/keys.ts'
import type { Action } from '../../src/actions/action.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { type Config, readConfig } from '../../src/app/settings/config.ts'
import type { ManageMerchants } from '../../src/core/merchants/manage-merchants.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { type Clock, systemClock } from '../../src/platform/runtime/clock.ts'
import type { Log } from '../../src/platform/runtime/log.ts'
import { loadMasterKeys } from '../../src/platform/runtime/secrets/master-keys.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { type Acting, actingAs } from './acting.ts'
import { until } from './callbacks.ts'
import { freshDatabase } from './database.ts'
import { type TestOperations, testOperations } from './operations.ts'
import { createBody } from './order.ts'
import { temporaryFolder } from './process.ts'
import { urlOf } from './server.ts'
import { testEnvironment, testHashCost } from './started.ts'

/** Its stores and operations too, beside its own and over the same database. */
export interface TestGateway extends TestOperations {
  readonly url: string
  readonly adminUrl: string
  readonly pool: Pool
  readonly config: Config
  readonly clock: Clock
  readonly merchants: Acting<ManageMerchants>
  addMerchant(options?: {
    name?: string
    requestsPerSecond?: number
    callbackHosts?: readonly string[]
    accentColour?: string
  }): Promise<TestMerchant>
  /** Sends what is given as it is, and gives back the status, the headers and the answer. */
  post(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<Answered>
  /** Before the test file is done, where a test is about that. */
  stop(): Promise<void>
}

export interface TestMerchant {
  readonly merchantId: string
  readonly aesKey: AesKey
  readonly privateKey: KeyObject
  /** A signed and sealed request to the path that serves every method. */
  call(method: string, body: object | string, options?: CallOptions): Promise<Answered>
  seal(method: string, body: object | string, timestamp?: number): Promise<Record<string, unknown>>
  /** Creates an order, pays it as the sandbox can, and resolves with its paymentId when the money is booked. */
  paidOrder(changes?: object): Promise<string>
}

export interface CallOptions {
  readonly path?: string
  readonly timestamp?: number
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly code: number
  readonly msg: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly data: any
}

export interface TestGatewayOptions {
  readonly clock?: Clock
  readonly environment?: Record<string, string>
  /** The gateway whose database this one is on too. */
  readonly share?: TestGateway
  /** On a database that no gateway has seen, for a test that is about that. */
  readonly firstStart?: boolean
  /** Everything that operators may do, unless given. */
  readonly catalog?: readonly Action[]
  /** Silent unless given. */
  readonly log?: Log
}

export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  let gateway: TestGateway | undefined
  // Before anything else is made: hooks run in the order of their making, and the database must outlive it.
  after(() => gateway?.stop())
  gateway = await openTestGateway({ ...options, ...(await placeFor(options)) })
  return gateway
}

/** As above, for a program that is no test: whoever opens it stops it, and brings a database and a folder. */
export async function openTestGateway(
  options: Pick<TestGatewayOptions, 'clock' | 'environment' | 'catalog' | 'log'> & {
    readonly pool: Pool
    readonly place: Place
  },
): Promise<TestGateway> {
  const { pool, clock = systemClock } = options
  const config = readConfig({ ...testEnvironment, ...options.place, ...options.environment })
  const gateway = await startGateway(config, {
    log: options.log ?? pino({ level: 'silent' }),
    clock,
    hashCost: testHashCost,
    report: () => {},
    signal: new AbortController().signal,
    ...(options.catalog && { catalog: options.catalog }),
  })
  let stopped: Promise<void> | undefined
  // A worker has none.
  const publicUrl = gateway.publicUrl || 'http://localhost'
  const vault = { ...makeVault(...loadMasterKeys(config)), hashCost: testHashCost }
  const { stores, operations } = testOperations(pool, { config, publicUrl, vault, clock })
  const { merchants } = actingAs(operations, 'test')
  // A live gateway's public address is not where it listens.
  const url = options.environment?.['PUBLIC_URL'] ? gateway.localUrl : gateway.publicUrl
  const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    send(`${url}${path}`, body, headers)

  return {
    url,
    adminUrl: gateway.adminUrl,
    pool,
    config,
    clock,
    stores,
    operations,
    merchants,
    post,
    async stop() {
      stopped ??= gateway.stop()
      await stopped
    },
    async addMerchant(settings = {}) {
      const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const { merchant, aesKey } = await merchants.addMerchant({ name: 'Tea House', publicKey, ...settings })
      return testMerchant({ merchantId: merchant.merchantId, aesKey: parseAesKey(aesKey), clock, post })
    },
  }
}

async function placeFor(options: TestGatewayOptions): Promise<{ pool: Pool; place: Place }> {
  const { share, firstStart, environment } = options
  const dataDir = temporaryFolder()
  if (share)
    return { pool: share.pool, place: { DATA_DIR: dataDir, DATABASE_URL: share.config.databaseUrl ?? '' } }
  const mode = environment?.['MODE'] === 'live' ? 'live' : 'sandbox'
  const { pool, connection, started } = await freshDatabase(firstStart ? {} : { startedIn: mode })
  if (started && mode === 'sandbox')
    writeFileSync(sandboxFilePath(dataDir), started.demoMerchantFile, { mode: 0o600 })
  return { pool, place: { DATA_DIR: dataDir, DATABASE_URL: urlOf(connection) } }
}

type Place = { readonly DATA_DIR: string; readonly DATABASE_URL: string }

/** For a sandbox in a process of its own, on a database that had its first start where the run has such a one. */
export async function sandboxEnvironment(): Promise<Place & { MASTER_KEY: string }> {
  const { MASTER_KEY } = testEnvironment
  return { ...(await placeFor({})).place, MASTER_KEY }
}

function testMerchant(parts: {
  merchantId: string
  aesKey: AesKey
  clock: Clock
  post: TestGateway['post']
}): TestMerchant {
  const { merchantId, aesKey, clock, post } = parts
  const { privateKey } = pair
  const seal: TestMerchant['seal'] = (method, body, timestamp = clock.now()) =>
    sealRequest(
      { merchantId, method, timestamp, body: typeof body === 'string' ? body : JSON.stringify(body) },
      { aesKey, privateKey },
    )
  const call: TestMerchant['call'] = async (method, body, { path = '/api/v1/gateway', timestamp } = {}) =>
    post(path, JSON.stringify(await seal(method, body, timestamp)))
  return {
    merchantId,
    aesKey,
    privateKey,
    seal,
    call,
    async paidOrder(changes = {}) {
      const { data, msg } = await call('service.trade.create', {
        ...createBody({ now: clock.now() }),
        ...changes,
      })
      assert(data, msg)
      const { paymentId } = data
      const paying = await call('service.sandbox.pay', { paymentId, outcome: 'success' })
      assert.equal(paying.code, 20000, paying.msg)
      await until(
        async () => (await call('service.trade.query', { paymentId })).data?.paymentStatus === 'success',
      )
      return paymentId
    },
  }
}

async function send(url: string, body: string | Buffer, headers: Record<string, string>): Promise<Answered> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await response.text()
  const { code, msg, data } = JSON.parse(text)
  // The text has the address of the code's documentation too.
  return {
    status: response.status,
    headers: response.headers,
    text,
    code,
    msg: msg.replace(/ See http\S+$/, ''),
    data,
  }
}
