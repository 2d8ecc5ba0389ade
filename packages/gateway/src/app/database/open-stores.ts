// The stores over the configured database, with the vault that opens their secrets. The gateway and the command line
// both start here.

import { PlatformKeys } from '../../core/keys/platform-keys.ts'
import { parseDatabaseUrl } from '../../platform/database/connection.ts'
import { bindMode } from '../../platform/database/mode.ts'
import {
  type NotificationParts,
  type Notifications,
  openNotifications,
} from '../../platform/database/notifications.ts'
import type { OpenDatabase } from '../../platform/database/open-database.ts'
import type { Pool } from '../../platform/database/pool.ts'
import { checkWritable, type Writability } from '../../platform/database/writable.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { loadMasterKeys } from '../../platform/runtime/secrets/master-keys.ts'
import { makeVault, type ScryptCost, type Vault } from '../../platform/runtime/secrets/vault.ts'
import { exitCodes, StartFailure } from '../../platform/runtime/start-failure.ts'
import { type Config, refuseExampleKeys } from '../settings/config.ts'
import { type DatabaseOptions, openGatewayDatabase } from './open-gateway-database.ts'
import { makeStores, type StoreParts, type Stores } from './stores.ts'

export interface OpenStores {
  readonly stores: Stores
  readonly vault: Vault
  poolCounts(): ReturnType<Pool['counts']>
  /** Undefined if the settings disable notifications. */
  openNotifications(listeners: Pick<NotificationParts, 'onMessage' | 'onDeaf'>): Notifications | undefined
  writability(): Promise<Writability>
  close(): Promise<void>
}

export interface StoresOptions extends Pick<StoreParts, 'onBatch' | 'publish'>, ClockAndRandom {
  readonly config: Config
  /** The same pool with instrumentation. */
  readonly overPool?: (pool: Pool) => Pool
  /** The cost of hashing PINs and passwords, for tests that hash thousands. No setting changes it. */
  readonly hashCost?: ScryptCost
}

export async function openStores(options: DatabaseOptions & StoresOptions): Promise<OpenStores> {
  const database = await openGatewayDatabase(options)
  try {
    return await storesOver(database, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Leaves the database open on failure. */
export async function storesOver(
  database: OpenDatabase,
  { config, clock, random, overPool, hashCost, ...parts }: StoresOptions,
): Promise<OpenStores> {
  const { schemaNumber, close } = database
  await bindMode(database.pool, config)
  const pool = overPool?.(database.pool) ?? database.pool
  const stores = makeStores(pool, parts)
  // After the database, which sets the permissions of DATA_DIR when it creates that folder.
  const masterKeys = loadMasterKeys(config)
  refuseExampleKeys(config, masterKeys)
  const vault = { ...makeVault(...masterKeys), ...(hashCost && { hashCost }) }
  await new PlatformKeys({ store: stores.platformKeys, vault }).ensure({ clock, random })
  await checkMasterKey(stores, vault)
  return {
    stores,
    vault,
    poolCounts: () => pool.counts(),
    openNotifications(listeners) {
      const { databaseListenUrl } = config
      if (databaseListenUrl === 'off') return undefined
      const connection =
        databaseListenUrl === undefined ? database.connection : parseDatabaseUrl(databaseListenUrl)
      return openNotifications({ connection, database: pool, ...listeners })
    },
    writability: () => checkWritable(pool, schemaNumber),
    close,
  }
}

/** A gateway with the wrong master key would reject every merchant, so it does not start. */
export async function checkMasterKey(
  { sealedSecrets }: Pick<Stores, 'sealedSecrets'>,
  vault: Vault,
): Promise<void> {
  const known = vault.masterKeyIds
  const counts = await sealedSecrets.countByMasterKey()
  if (counts.every(({ masterKeyId, live }) => live === 0 || known.some((id) => id.equals(masterKeyId))))
    return
  throw new StartFailure(
    'The secrets in this database were sealed under another master key.\n' +
      'Set the original master key (MASTER_KEY, MASTER_KEY_FILE, or master.key in DATA_DIR).\n' +
      'During a rotation, set both keys, the new one first.',
    { exitCode: exitCodes.settings },
  )
}
