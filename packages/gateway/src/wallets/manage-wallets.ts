// What an operator does with consumers' wallets. Each act is recorded with who did it and why.
import { digitsOf, Failure, makeUuid } from '@tillgate/protocol'
import type { Account } from '../ledger/store/ledger.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import type { Once } from '../operators/carry-out-once.ts'
import { sealHash } from '../platform/secret-hash.ts'
import type { Tokens } from '../platform/tokens.ts'
import type { Vault } from '../platform/vault.ts'
import { parseLine } from '../platform/visible-text.ts'
import { makeMoveFunds } from '../treasury/move-funds.ts'
import type { Outside } from '../treasury/rules/bank-account.ts'
import type { TreasuryStore } from '../treasury/store/treasury.ts'
import { describeLimits, type Limits } from './rules/limits.ts'
import { makePinResetCode, pinResetLimits } from './rules/pin-reset.ts'
import {
  normaliseLogin,
  parseLogin,
  parsePin,
  placeOfPin,
  randomDigits,
  type Wallet,
} from './rules/wallet.ts'
import type { ConsumerData, ConsumerDataStore } from './store/consumer-data.ts'
import type { WalletLimitStore } from './store/limits.ts'
import type { PinResetStore } from './store/pin-resets.ts'
import type { WalletStore } from './store/wallets.ts'

export interface ManageWalletsParts extends ActParts {
  readonly wallets: WalletStore
  readonly treasury: TreasuryStore
  readonly vault: Vault
  readonly resets: PinResetStore
  /** Hashes one-time codes under a key of their own. */
  readonly pinResetCodes: Tokens
  readonly limits: WalletLimitStore
  readonly consumerData: ConsumerDataStore
  readonly balanceLimits?: ReadonlyMap<string, bigint> | undefined
}

export interface ShownWallet {
  readonly wallet: Wallet
  readonly balances: readonly Account[]
  /** Its own, by currency. */
  readonly limits: readonly (Limits & { readonly currency: string })[]
}

export interface AddedWallet {
  readonly wallet: Wallet
  /** To be told to the consumer this once, where it was made here. */
  readonly pin: string | undefined
}

export type ManageWallets = ReturnType<typeof makeManageWallets>

const madePinDigits = 6

export function makeManageWallets(parts: ManageWalletsParts) {
  const { wallets, clock, random } = parts
  const funds = makeMoveFunds(parts)

  /** By walletId or by login. */
  const find = async (idOrLogin: string): Promise<Wallet> => {
    const login = normaliseLogin(idOrLogin)
    const wallet =
      login === undefined ? await wallets.findWallet(idOrLogin) : await wallets.findWalletByLogin(login)
    if (!wallet) throw new Failure('not_found', { message: `There is no wallet ${idOrLogin}.` })
    return wallet
  }

  const act = makeActs(parts)

  const setStatus = async (idOrLogin: string, status: Wallet['status'], reason: string): Promise<Wallet> => {
    const { walletId } = await find(idOrLogin)
    const name = status === 'locked' ? 'wallet.lock' : 'wallet.unlock'
    await wallets.setStatus({ walletId, status }, act(name, walletId, { reason }))
    return find(walletId)
  }

  return {
    async addWallet(given: {
      login: string
      name: string
      pin?: string
      reason: string
    }): Promise<AddedWallet> {
      const login = parseLogin(given.login)
      const name = parseLine(given.name, 'name')
      const pin = given.pin === undefined ? randomDigits(madePinDigits, random) : parsePin(given.pin)
      const walletId = makeUuid(clock.now(), random)
      const inserted = await wallets.insertWallet(
        {
          walletId,
          login,
          name,
          behaviour: undefined,
          createdAtMs: clock.now(),
          sealedPin: await sealHash({ secret: pin, place: placeOfPin(walletId) }, parts),
        },
        act('wallet.add', walletId, { reason: given.reason }),
      )
      if (!inserted)
        throw new Failure('number_already_used', { message: `There is a wallet for ${login} already.` })
      return { wallet: await find(walletId), pin: given.pin === undefined ? pin : undefined }
    },

    async showWallet(idOrLogin: string): Promise<ShownWallet> {
      const wallet = await find(idOrLogin)
      const { walletId } = wallet
      return {
        wallet,
        balances: await wallets.listBalances(walletId),
        limits: await parts.limits.listLimits(walletId),
      }
    },

    /** All that is stored of the consumer. Recorded, because it is much to know of somebody. */
    async exportWallet(idOrLogin: string, reason: string): Promise<ShownWallet & ConsumerData> {
      const shown = await this.showWallet(idOrLogin)
      const { walletId } = shown.wallet
      await wallets.recordExport(act('wallet.export', walletId, { reason }))
      return { ...shown, ...(await parts.consumerData.read(walletId)) }
    },

    /** All three of one currency; what is undefined goes back to the default. */
    async setLimits(
      idOrLogin: string,
      { currency, reason, ...limits }: Limits & { readonly currency: string; readonly reason: string },
    ): Promise<ShownWallet> {
      digitsOf(currency)
      const { walletId } = await find(idOrLogin)
      const said = `${describeLimits(limits, currency)}: ${reason}`
      await parts.limits.setLimits(
        { walletId, currency },
        limits,
        act('wallet.set-limits', walletId, { reason: said }),
      )
      return this.showWallet(walletId)
    },

    listWallets: (sought: string | undefined, limit: number, before?: string) =>
      wallets.listWallets({ sought, limit, before }),

    async topUp(
      given: {
        wallet: string
        currency: string
        amountMinor: bigint
        reason: string
        outside?: Outside | undefined
      } & Once,
    ): Promise<Wallet> {
      const { wallet: idOrLogin, currency, amountMinor, ...rest } = given
      const wallet = await find(idOrLogin)
      const { walletId } = wallet
      await funds.topUp([{ walletId, currency, amountMinor }], { subject: walletId, ...rest })
      return wallet
    },

    /** The code is told this once. Whoever has it and the login sets a new PIN. */
    async resetPin(
      idOrLogin: string,
      reason: string,
    ): Promise<{ readonly wallet: Wallet; readonly code: string; readonly expiresAtMs: number }> {
      const { walletId, login } = await find(idOrLogin)
      const code = makePinResetCode(random)
      const nowMs = clock.now()
      const codeHash = parts.pinResetCodes.make([walletId, code])
      await parts.resets.giveOut(
        { walletId, login, codeHash, nowMs },
        act('wallet.reset-pin', walletId, { reason }),
      )
      return { wallet: await find(walletId), code, expiresAtMs: nowMs + pinResetLimits.lifeMs }
    },

    /** It neither signs in nor pays until it is unlocked. */
    lockWallet: (idOrLogin: string, reason: string) => setStatus(idOrLogin, 'locked', reason),
    /** Ends an operator's lock and that of too many wrong tries alike. */
    unlockWallet: (idOrLogin: string, reason: string) => setStatus(idOrLogin, 'active', reason),
  }
}
