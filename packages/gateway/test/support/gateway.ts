// A whole gateway in this process on a fresh database, and merchants that speak to it over real HTTP. Gone again
// when the test file is done.
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { type AesKey, parseAesKey, sealRequest } from '@tillgate/protocol'
import { pino } from 'pino'
import { type Clock, systemClock } from '../../src/clock.ts'
import { type Config, readConfig } from '../../src/config.ts'
import type { ConnectionOptions } from '../../src/database/connection.ts'
import type { Pool } from '../../src/database/pool.ts'
import { type Gateway, startGateway } from '../../src/gateway.ts'
import { type ManageMerchants, makeManageMerchants } from '../../src/operations/manage-merchants.ts'
import { makeMerchantStore } from '../../src/store/merchants.ts'
import { makeVault } from '../../src/vault.ts'
import { freshDatabase } from './database.ts'
import { temporaryFolder } from './process.ts'

export interface TestGateway {
  readonly url: string
  readonly adminUrl: string
  readonly pool: Pool
  readonly config: Config
  readonly clock: Clock
  readonly merchants: ManageMerchants
  addMerchant(options?: {
    name?: string
    requestsPerSecond?: number
    callbackHosts?: readonly string[]
    accentColour?: string
  }): Promise<TestMerchant>
  /** Sends what is given as it is, and gives back the status, the headers and the answer. */
  post(path: string, body: string, headers?: Record<string, string>): Promise<Answered>
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

/** Of the first operator, admin. */
export const operatorPassword = 'a password for tests'
const masterKey = randomBytes(32).toString('base64')
/** Made once: 2048 bits take a tenth of a second. */
const keyPair = generateKeyPairSync('rsa', { modulusLength: 2048 })

export async function startTestGateway(
  options: { clock?: Clock; environment?: Record<string, string>; share?: TestGateway } = {},
): Promise<TestGateway> {
  const clock = options.clock ?? systemClock
  let gateway: Gateway | undefined
  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopped ??= gateway?.stop()
    await stopped
  }
  // Before anything else is made: hooks run in the order of their making, and the database must outlive it.
  after(stop)
  const { pool, url: databaseUrl } = options.share
    ? { pool: options.share.pool, url: options.share.config.databaseUrl ?? '' }
    : await freshDatabaseWithUrl()
  const config = readConfig({
    PORT: '0',
    ADMIN_PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: temporaryFolder(),
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey,
    TRUSTED_PROXIES: 'none',
    OPERATOR_PASSWORD: operatorPassword,
    LOG_LEVEL: 'silent',
    ...options.environment,
  })
  gateway = await startGateway(config, {
    log: pino({ level: 'silent' }),
    clock,
    tell: () => {},
    signal: new AbortController().signal,
  })
  const vault = makeVault(Buffer.from(masterKey, 'base64'))
  const merchants = makeManageMerchants({
    merchants: makeMerchantStore(pool),
    vault,
    clock,
    random: randomBytes,
    actor: 'test',
  })
  // A live gateway's public address is not where it listens.
  const url = options.environment?.['PUBLIC_URL'] ? gateway.localUrl : gateway.publicUrl
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    send(`${url}${path}`, body, headers)

  return {
    url,
    adminUrl: gateway.adminUrl,
    pool,
    config,
    clock,
    merchants,
    post,
    stop,
    async addMerchant(settings = {}) {
      const publicKey = keyPair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
      const { merchant, aesKey } = await merchants.addMerchant({ name: 'Tea House', publicKey, ...settings })
      return testMerchant({ merchantId: merchant.merchantId, aesKey: parseAesKey(aesKey), clock, post })
    },
  }
}

function testMerchant(parts: {
  merchantId: string
  aesKey: AesKey
  clock: Clock
  post: TestGateway['post']
}): TestMerchant {
  const { merchantId, aesKey, clock, post } = parts
  const { privateKey } = keyPair
  const seal: TestMerchant['seal'] = (method, body, timestamp = clock.now()) =>
    sealRequest(
      { merchantId, method, timestamp, body: typeof body === 'string' ? body : JSON.stringify(body) },
      { aesKey, privateKey },
    )
  return {
    merchantId,
    aesKey,
    privateKey,
    seal,
    call: async (method, body, { path = '/api/v1/gateway', timestamp } = {}) =>
      post(path, JSON.stringify(await seal(method, body, timestamp))),
  }
}

async function send(url: string, body: string, headers: Record<string, string>): Promise<Answered> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await response.text()
  const { code, msg, data } = JSON.parse(text)
  return { status: response.status, headers: response.headers, text, code, msg, data }
}

async function freshDatabaseWithUrl(): Promise<{ pool: Pool; url: string }> {
  const { pool, connection } = await freshDatabase()
  return { pool, url: urlOf(connection) }
}

function urlOf(connection: ConnectionOptions): string {
  if ('connectionString' in connection) return connection.connectionString
  const { host, port, user, database } = connection
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
}
