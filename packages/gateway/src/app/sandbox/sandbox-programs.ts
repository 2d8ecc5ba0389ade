// The programs that a sandbox starts: the demo shop of the demo merchant, and the test bank as a rail.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isWebhookSecret, makeWebhookSecret } from '@tillgate/protocol'
import type { Log } from '../../platform/runtime/log.ts'
import { testBankRailId } from '../../sandbox/test-bank.ts'
import { type DemoProgram, noProgram, startDemoProgram } from '../processes/demo-program.ts'
import type { Config } from '../settings/config.ts'
import { sandboxFile, sandboxFilePath } from './sandbox-file.ts'

export interface SandboxPrograms {
  readonly shop: DemoProgram
  readonly bank: DemoProgram
  stop(): Promise<void>
}

const examples = join(import.meta.dirname, '../../../../../examples')

export async function startSandboxPrograms(
  config: Config,
  parts: { publicUrl: string; log: Log },
): Promise<SandboxPrograms> {
  const isServed = config.mode === 'sandbox' && config.roles.includes('api')
  const shop = isServed ? startShop(config, parts) : noProgram
  const bank = isServed ? await startBank(config, parts) : noProgram
  return { shop, bank, stop: async () => void (await Promise.all([shop.stop(), bank.stop()])) }
}

function startShop(config: Config, { publicUrl, log }: { publicUrl: string; log: Log }): DemoProgram {
  const { shopPort: port, dataDir, publicListener } = config
  if (port === undefined) return noProgram
  const script = join(examples, 'shop/main.ts')
  const credentials = sandboxFilePath(dataDir)
  const missing = [script, credentials].find((path) => !existsSync(path))
  if (missing !== undefined) {
    log.warn({ reason: `${missing} is missing` }, 'there is no demo shop')
    return noProgram
  }
  return startDemoProgram({
    name: 'the demo shop',
    portSetting: 'SHOP_PORT',
    script,
    environment: {
      TILLGATE_CREDENTIALS: credentials,
      SHOP_PORT: String(port),
      SHOP_HOST: publicListener.host,
      SHOP_URL: `http://${new URL(publicUrl).hostname}:${port}`,
      SHOP_CALLBACK_URL: `http://${localHost(config)}:${port}/callbacks`,
      SHOP_BESIDE_GATEWAY: '1',
    },
    log,
  })
}

async function startBank(
  config: Config,
  { publicUrl, log }: { publicUrl: string; log: Log },
): Promise<DemoProgram> {
  if (config.railPort === undefined) return noProgram
  const script = join(examples, 'rail/main.ts')
  const rail = await sandboxRail(config).catch((error: Error) => error)
  if (rail instanceof Error || rail === undefined || !existsSync(script)) {
    const reason = rail instanceof Error ? rail.message : `${script} is missing`
    log.warn({ reason }, 'there is no test bank')
    return noProgram
  }
  return startDemoProgram({
    name: 'the test bank',
    portSetting: 'RAIL_PORT',
    script,
    environment: {
      RAIL_PORT: String(config.railPort),
      RAIL_HOST: config.publicListener.host,
      RAIL_URL: `http://${new URL(publicUrl).hostname}:${config.railPort}`,
      RAIL_SECRET: rail.secret,
      RAIL_JOURNAL: join(config.dataDir, 'sandbox-rail.jsonl'),
      RAIL_BESIDE_GATEWAY: '1',
    },
    log,
  })
}

export interface SandboxRail {
  readonly railId: string
  readonly name: string
  /** The address for the gateway's messages. */
  readonly url: string
  readonly secret: string
}

/** The test bank as a rail. Its secret is in a file, so that gateway and bank use the same one at every start. */
export async function sandboxRail(config: Config): Promise<SandboxRail | undefined> {
  if (config.mode !== 'sandbox' || config.railPort === undefined) return undefined
  const file = sandboxFile(config.dataDir, 'sandbox-rail.json')
  let secret = secretIn(await file.read())
  if (secret === undefined) {
    const text = JSON.stringify({ secret: makeWebhookSecret(randomBytes) })
    await file.writeFirst(text)
    secret = secretIn(await file.read())
    // The file was changed and contains no secret.
    if (secret === undefined) await file.replace(text)
    secret ??= secretIn(text) as string
  }
  const url = `http://${localHost(config)}:${config.railPort}/messages`
  return { railId: testBankRailId, name: 'Test bank', url, secret }
}

function secretIn(text: string | undefined): string | undefined {
  const found = /"secret":\s*"(whsec_[^"]+)"/.exec(text ?? '')?.[1]
  return found !== undefined && isWebhookSecret(found) ? found : undefined
}

/** The address at which the gateway reaches programs on the same host. */
function localHost({ publicListener: { host } }: Config): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
