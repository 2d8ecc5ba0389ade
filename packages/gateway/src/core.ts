// What stands between the edges and the database: stores, keys and the merchants' directory over one open
// database. The gateway and the operator's command line both work through it.
import { join } from 'node:path'
import type { Config } from './config.ts'
import { type DatabaseEvent, openDatabase } from './database/open-database.ts'
import { checkWritable, type Writability } from './database/writable.ts'
import { MerchantDirectory } from './operations/merchant-directory.ts'
import { exitCodes, StartFailure } from './start-failure.ts'
import { type MerchantStore, makeMerchantStore } from './store/merchants.ts'
import { makeOrderStore, type OrderStore } from './store/orders.ts'
import { makePaymentStore, type PaymentStore } from './store/payments.ts'
import { makeRefundStore, type RefundStore } from './store/refunds.ts'
import { makeSettlingStore, type SettlingStore } from './store/settling.ts'
import { makeWalletStore, type WalletStore } from './store/wallets.ts'
import { loadMasterKey, makeVault, type Vault } from './vault.ts'

export interface Core {
  readonly orders: OrderStore
  readonly merchants: MerchantStore
  readonly wallets: WalletStore
  readonly payments: PaymentStore
  readonly refunds: RefundStore
  readonly settling: SettlingStore
  readonly directory: MerchantDirectory
  readonly vault: Vault
  writability(): Promise<Writability>
  close(): Promise<void>
}

export interface CoreOptions {
  readonly config: Config
  readonly tell: (event: DatabaseEvent) => void
  readonly signal: AbortSignal
}

const migrationsFolder = join(import.meta.dirname, '../migrations')

export async function openCore({ config, tell, signal }: CoreOptions): Promise<Core> {
  const vault = makeVault(loadMasterKey(config))
  const { pool, schemaNumber, close } = await openDatabase({
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    poolMax: config.databasePoolMax,
    migrationsFolder,
    tell,
    signal,
  })
  try {
    const merchants = makeMerchantStore(pool)
    await checkMasterKey(merchants, vault)
    return {
      orders: makeOrderStore(pool),
      merchants,
      wallets: makeWalletStore(pool),
      payments: makePaymentStore(pool),
      refunds: makeRefundStore(pool),
      settling: makeSettlingStore(pool),
      directory: new MerchantDirectory({ store: merchants, vault }),
      vault,
      writability: () => checkWritable(pool, schemaNumber),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A gateway with the wrong master key would turn every merchant away, so it does not start at all. */
async function checkMasterKey(merchants: MerchantStore, vault: Vault): Promise<void> {
  const ids = await merchants.listMasterKeyIds()
  if (ids.every((id) => id.equals(vault.masterKeyId))) return
  throw new StartFailure(
    'The secrets in this database were sealed under another master key.\n' +
      'Give the one that they were made with (MASTER_KEY, MASTER_KEY_FILE, or master.key in DATA_DIR).',
    { exitCode: exitCodes.settings },
  )
}
