// What a gateway makes at its first start, so that there is somebody to serve: the first operator and, in the sandbox,
// test wallets and the demo merchant. A part of the composition root with a file of its own.
import type { RandomBytes } from '@tillgate/protocol'
import { ensureFirstOperator } from '../operators/first-operator.ts'
import { ensureSandboxMerchant } from '../sandbox/demo-merchant.ts'
import { ensureTestWallets } from '../sandbox/test-wallets.ts'
import { type Config, ConfigurationFailure, operatorPasswordMissing } from '../settings/config.ts'
import type { Core } from './core.ts'
import type { GatewayParts } from './gateway.ts'
import { isFileTrouble, sandboxFile } from './sandbox-file.ts'

export interface FirstThingsParts extends Pick<GatewayParts, 'clock' | 'log' | 'onFirstOperator'> {
  readonly publicUrl: string
  readonly random: RandomBytes
}

export async function ensureFirstThings(config: Config, core: Core, parts: FirstThingsParts): Promise<void> {
  await ensureOperator(config, core, parts)
  if (config.mode !== 'sandbox') return
  const { wallets, treasury } = core
  const { clock, random } = parts
  await Promise.all([
    ensureTestWallets({ wallets, treasury, clock, random }),
    ensureDemoMerchant(config, core, parts),
  ])
}

async function ensureOperator(config: Config, core: Core, parts: FirstThingsParts): Promise<void> {
  const outcome = await ensureFirstOperator({
    operators: core.operators,
    password: config.operatorPassword,
    mode: config.mode,
    clock: parts.clock,
    random: parts.random,
  })
  if (outcome.kind === 'password_missing') throw new ConfigurationFailure([operatorPasswordMissing])
  if (outcome.kind === 'made' && outcome.password !== undefined)
    parts.onFirstOperator?.({ login: outcome.login, password: outcome.password })
}

/** A folder that cannot be written costs the ready-made credentials, and nothing else. */
async function ensureDemoMerchant(config: Config, core: Core, parts: FirstThingsParts): Promise<void> {
  const { clock, random, log } = parts
  await ensureSandboxMerchant({
    merchants: core.merchants,
    vault: core.vault,
    file: sandboxFile(config.dataDir),
    platformKeys: () => core.platformKeys.published(clock.now()),
    gatewayUrl: parts.publicUrl,
    clock,
    random,
  }).catch((error: unknown) => {
    if (!isFileTrouble(error)) throw error
    log.warn({ reason: error.message }, 'the credentials of the demo merchant could not be written')
  })
}
