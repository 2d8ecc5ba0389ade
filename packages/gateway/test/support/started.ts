// Databases as a gateway's first start leaves them: its keys, its first operator and, in the sandbox, test wallets with
// money in every currency and the demo merchant. Made once a run and copied, because a first start takes a second of
// hashing, key making and bookkeeping, and few tests are about it.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { startGateway } from '../../src/app/gateway.ts'
import { sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { type ConnectionOptions, withDatabase } from '../../src/platform/database/connection.ts'
import { makeVault, type Vault } from '../../src/platform/runtime/secrets/vault.ts'
import { TestClock } from './clock.ts'
import { copyDatabase, type StartedTemplates, startedNames, type TestServer, urlOf } from './server.ts'

/** Before the time of every test. */
const firstStartAtMs = 1_700_000_000_000

/** Of the first operator, admin. */
export const operatorPassword = 'a password for tests'
const masterKey = Buffer.alloc(32, 'a key for tests').toString('base64')
/** A thousandth of what PINs and passwords cost otherwise, because tests hash thousands. */
export const testHashCost = { N: 2 ** 5, r: 8, p: 1 }
/** As every gateway in a test has it, unless it is given other keys. */
export const testVault: Vault = { ...makeVault(Buffer.from(masterKey, 'base64')), hashCost: testHashCost }

/** What every gateway in a test is started with. */
export const testEnvironment = {
  PORT: '0',
  ADMIN_PORT: '0',
  HOST: '127.0.0.1',
  MASTER_KEY: masterKey,
  TRUSTED_PROXIES: 'none',
  OPERATOR_PASSWORD: operatorPassword,
  LOG_LEVEL: 'silent',
}

export async function makeStartedTemplates(server: TestServer): Promise<StartedTemplates> {
  const { connection, template } = server
  const { live, sandbox } = startedNames(template)
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tillgate-started-'))
  try {
    await copyDatabase(server, { from: template, to: live })
    await startOnce({ MODE: 'live', PUBLIC_URL: 'https://pay.example.com' }, withDatabase(connection, live))
    await copyDatabase(server, { from: template, to: sandbox })
    await startOnce({ DATA_DIR: dataDir }, withDatabase(connection, sandbox))
    return { live, sandbox, demoMerchantFile: await readFile(sandboxFilePath(dataDir), 'utf8') }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function startOnce(environment: Record<string, string>, connection: ConnectionOptions): Promise<void> {
  const config = readConfig({ ...testEnvironment, DATABASE_URL: urlOf(connection), ...environment })
  const gateway = await startGateway(config, {
    log: pino({ level: 'silent' }),
    clock: new TestClock(firstStartAtMs),
    hashCost: testHashCost,
    report: () => {},
    signal: new AbortController().signal,
  })
  await gateway.stop()
}
