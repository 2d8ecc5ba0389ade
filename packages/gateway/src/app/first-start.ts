// Creates what the first start needs: the first operator and, in the sandbox, test wallets and the demo merchant.
import { platformKeysPath } from '../adapters/merchant-api/platform-keys.ts'
import { PlatformKeys, type PublishedKey } from '../core/keys/platform-keys.ts'
import { ensureFirstOperator } from '../identity/operators/first-operator.ts'
import type { ClockAndRandom } from '../platform/runtime/clock.ts'
import type { Log } from '../platform/runtime/log.ts'
import { ConfigurationFailure } from '../platform/settings/settings-table.ts'
import { ensureSandboxMerchant } from '../sandbox/demo-merchant.ts'
import { ensureTestBank } from '../sandbox/test-bank.ts'
import { ensureTestWallets } from '../sandbox/test-wallets.ts'
import type { OpenStores } from './database/open-stores.ts'
import { isFileTrouble, sandboxFile } from './sandbox/sandbox-file.ts'
import { sandboxRail } from './sandbox/sandbox-programs.ts'
import { type Config, operatorPasswordMissing } from './settings/config.ts'

export interface FirstStartParts extends ClockAndRandom {
  readonly publicUrl: string
  readonly log: Log
  /** Called with the first operator's generated password, which is shown once. */
  readonly onFirstOperator?: (made: { login: string; password: string }) => void
}

type Opened = Pick<OpenStores, 'stores' | 'vault'>

export async function completeFirstStart(
  config: Config,
  opened: Opened,
  parts: FirstStartParts,
): Promise<void> {
  await ensureOperator(config, opened, parts)
  if (config.mode !== 'sandbox') return
  const { wallets, treasury } = opened.stores
  const { vault } = opened
  const { clock, random } = parts
  await Promise.all([
    ensureTestWallets({ wallets, treasury, vault, clock, random }),
    ensureDemoMerchant(config, opened, parts),
    ensureSandboxRail(config, opened, parts),
  ])
}

async function ensureOperator(config: Config, opened: Opened, parts: FirstStartParts): Promise<void> {
  const outcome = await ensureFirstOperator({
    operators: opened.stores.operators,
    vault: opened.vault,
    password: config.operatorPassword,
    mode: config.mode,
    clock: parts.clock,
    random: parts.random,
  })
  if (outcome.kind === 'password_missing') throw new ConfigurationFailure([operatorPasswordMissing])
  if (outcome.kind === 'made' && outcome.password !== undefined)
    parts.onFirstOperator?.({ login: outcome.login, password: outcome.password })
}

/** The test bank exists only if its file does. */
async function ensureSandboxRail(config: Config, opened: Opened, parts: FirstStartParts): Promise<void> {
  const { clock, random, log } = parts
  const { stores, vault } = opened
  const rail = await sandboxRail(config).catch((error: Error) =>
    log.warn({ reason: error.message }, 'the test bank could not be registered'),
  )
  if (rail) await ensureTestBank(rail, { rails: stores.rails, vault, clock, random })
}

/** If the folder cannot be written, only the demo credentials are missing. */
async function ensureDemoMerchant(config: Config, opened: Opened, parts: FirstStartParts): Promise<void> {
  const { clock, random, log } = parts
  const { stores, vault } = opened
  const platformKeys = () => new PlatformKeys({ store: stores.platformKeys, vault }).published(clock.now())
  await ensureSandboxMerchant({
    merchants: stores.merchants,
    vault,
    file: sandboxFile(config.dataDir),
    platformKeys,
    gatewayUrl: parts.publicUrl,
    isServed: async (gatewayUrl) => publishes(gatewayUrl, await platformKeys()),
    clock,
    random,
  }).catch((error: unknown) => {
    if (!isFileTrouble(error)) throw error
    log.warn({ reason: error.message }, 'the credentials of the demo merchant could not be written')
  })
}

const answersWithinMs = 1_000

/** A server that publishes one of our keys is a gateway on our database. */
async function publishes(gatewayUrl: string, own: readonly PublishedKey[]): Promise<boolean> {
  try {
    const response = await fetch(new URL(platformKeysPath, gatewayUrl), {
      signal: AbortSignal.timeout(answersWithinMs),
    })
    const { keys } = (await response.json()) as { keys: readonly PublishedKey[] }
    return keys.some(({ keyId }) => own.some((key) => key.keyId === keyId))
  } catch {
    // No server, or a different one.
    return false
  }
}
