// What an operator does with consumers' wallets.

import { digitsOf, Failure, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Once } from '../../core/audit/carry-out-once.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { Effect } from '../../core/authority/rules/effects.ts'
import type { MakeEmails } from '../../core/emails/make-emails.ts'
import type { Account } from '../../core/ledger/store/ledger.ts'
import { mailTo } from '../../core/wallets/notify-owner.ts'
import {
  type DefaultLimits,
  describeLimits,
  type LimitKind,
  type Limits,
  limitsIn,
  limitsOf,
  loosened,
} from '../../core/wallets/rules/limits.ts'
import { forgettingWithoutApproval } from '../../core/wallets/rules/pin-lock.ts'
import { makePinResetCode, pinResetLimits } from '../../core/wallets/rules/pin-reset.ts'
import {
  normaliseLogin,
  parseLogin,
  parseNewPin,
  placeOfPin,
  randomDigits,
  type Wallet,
} from '../../core/wallets/rules/wallet.ts'
import type { WalletLimitStore } from '../../core/wallets/store/limits.ts'
import type { WalletStore } from '../../core/wallets/store/wallets.ts'
import { type MoveFunds, makeMoveFunds } from '../../finance/treasury/move-funds.ts'
import type { Outside } from '../../finance/treasury/rules/operator-bank-account.ts'
import type { TreasuryStore } from '../../finance/treasury/store/treasury.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { sealHash } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { parseLine } from '../../platform/runtime/visible-text.ts'
import type { ConsumerData, ConsumerDataStore } from './store/consumer-data.ts'
import type { PinResetStore } from './store/pin-resets.ts'

export interface ManageWalletsParts extends ClockAndRandom {
  readonly wallets: WalletStore
  readonly treasury: TreasuryStore
  readonly vault: Vault
  readonly resets: PinResetStore
  /** Hashes one-time codes under a separate key. */
  readonly pinResetCodes: Tokens
  readonly limits: WalletLimitStore
  readonly consumerData: ConsumerDataStore
  readonly makeEmails: MakeEmails
  readonly defaultLimits: DefaultLimits
}

export interface ShownWallet {
  readonly wallet: Wallet
  readonly balances: readonly Account[]
  /** The wallet's own limits, by currency. */
  readonly limits: readonly (Limits & { readonly currency: string })[]
}

export interface AddedWallet {
  readonly wallet: Wallet
  /** Shown once, if the gateway generated it. */
  readonly pin: string | undefined
}

export interface GivenPinReset {
  readonly wallet: Wallet
  readonly expiresAtMs: number
  /** False if the code was mailed to the consumer's address; operators do not see it then. */
  readonly isShownToOperator: boolean
  readonly code: string | undefined
  readonly sentTo: string | undefined
}

export type ManageWallets = ReturnType<typeof makeManageWallets>

const madePinDigits = 6

/**
 * Resetting the count of wrong PINs needs an approval only when an operator does it repeatedly, because that would allow
 * guessing the PIN.
 */
function effectsOfForgetting(forgettings: number): { readonly effects?: readonly Effect[] } {
  return forgettings < forgettingWithoutApproval.most ? { effects: [] } : {}
}

/** What a looser limit lets through. */
const effectsOfLimits = {
  payment: 'gives access to money',
  day: 'gives access to money',
  balance: 'credits a wallet',
} as const satisfies Record<LimitKind, Effect>

interface State extends ManageWalletsParts {
  readonly funds: MoveFunds
}

export function makeManageWallets(parts: ManageWalletsParts) {
  const funds = makeMoveFunds({ ...parts, balanceLimits: parts.defaultLimits.balance })
  const state: State = { ...parts, funds }
  const { wallets } = state
  return {
    listWallets: (_context: AnyContext, sought: string | undefined, limit: number, before?: string) =>
      wallets.listWallets({ sought, limit, before }),
    /** A locked wallet cannot sign in or pay. */
    lockWallet: (context: AnyContext, idOrLogin: string, reason: string) =>
      setStatus(state, context, idOrLogin, 'locked', reason),
    /** Ends both an operator's lock and the lock after too many wrong PINs. */
    unlockWallet: (context: AnyContext, idOrLogin: string, reason: string) =>
      setStatus(state, context, idOrLogin, 'active', reason),
    ...bindAll(state, { addWallet, showWallet, exportWallet, setLimits, topUp, resetPin }),
  }
}

async function addWallet(
  state: State,
  context: AnyContext,
  given: {
    login: string
    name: string
    pin?: string
    reason: string
  },
): Promise<AddedWallet> {
  const { random, clock, wallets } = state
  const login = parseLogin(given.login)
  const name = parseLine(given.name, 'name')
  const pin = given.pin === undefined ? randomDigits(madePinDigits, random) : parseNewPin(given.pin)
  const walletId = makeUuid(clock.now(), random)
  const inserted = await wallets.insertWallet(
    {
      walletId,
      login,
      name,
      behaviour: undefined,
      createdAtMs: clock.now(),
      sealedPin: await sealHash({ secret: pin, place: placeOfPin(walletId) }, state),
    },
    makeAuditEntry(state, context, 'wallet.add', walletId, { reason: given.reason }),
  )
  if (!inserted)
    throw new Failure('number_already_used', { message: `A wallet for ${login} already exists.` })
  return { wallet: await find(state, walletId), pin: given.pin === undefined ? pin : undefined }
}

async function showWallet(state: State, _context: AnyContext, idOrLogin: string): Promise<ShownWallet> {
  const wallet = await find(state, idOrLogin)
  const { walletId } = wallet
  return {
    wallet,
    balances: await state.wallets.listBalances(walletId),
    limits: await state.limits.listLimits(walletId),
  }
}

/** Everything that is stored of the consumer. The export is recorded, because it contains personal data. */
async function exportWallet(
  state: State,
  context: AnyContext,
  idOrLogin: string,
  reason: string,
): Promise<ShownWallet & ConsumerData> {
  const shown = await showWallet(state, context, idOrLogin)
  const { walletId } = shown.wallet
  await state.wallets.recordExport(makeAuditEntry(state, context, 'wallet.export', walletId, { reason }))
  return { ...shown, ...(await state.consumerData.read(walletId)) }
}

/** Sets all three limits of one currency; undefined restores the default. */
async function setLimits(
  state: State,
  context: AnyContext,
  idOrLogin: string,
  { currency, reason, ...limits }: Limits & { readonly currency: string; readonly reason: string },
): Promise<ShownWallet> {
  digitsOf(currency)
  const { walletId } = await find(state, idOrLogin)
  const said = `${describeLimits(limits, currency)}: ${reason}`
  const defaults = limitsIn(currency, state.defaultLimits)
  await state.limits.setLimits({ walletId, currency }, limits, (before) =>
    makeAuditEntry(state, context, 'wallet.set-limits', walletId, {
      reason: said,
      effects: loosened(limitsOf(before, defaults), limitsOf(limits, defaults)).map(
        (kind) => effectsOfLimits[kind],
      ),
    }),
  )
  return showWallet(state, context, walletId)
}

async function topUp(
  state: State,
  context: AnyContext,
  given: {
    wallet: string
    currency: string
    amountMinor: bigint
    reason: string
    outside?: Outside | undefined
  } & Once,
): Promise<Wallet> {
  const { wallet: idOrLogin, currency, amountMinor, ...rest } = given
  const wallet = await find(state, idOrLogin)
  const { walletId } = wallet
  await state.funds.topUp(context, [{ walletId, currency, amountMinor }], { subject: walletId, ...rest })
  return wallet
}

/**
 * Creates a one-time code for a new PIN. With a mail server, the code goes to the consumer's confirmed address, because
 * an operator who sees it could take over the wallet. Otherwise it is shown once.
 */
async function resetPin(
  state: State,
  context: AnyContext,
  idOrLogin: string,
  reason: string,
): Promise<GivenPinReset> {
  const wallet = await find(state, idOrLogin)
  const { walletId, login } = wallet
  const code = makePinResetCode(state.random)
  const nowMs = state.clock.now()
  const expiresAtMs = nowMs + pinResetLimits.lifeMs
  const emails = codeEmails(state, wallet, { code, expiresAtMs })
  const isShownToOperator = emails.length === 0
  const isGiven = await state.resets.giveOut(
    {
      walletId,
      login,
      codeHash: state.pinResetCodes.make([walletId, code]),
      isMailed: !isShownToOperator,
      nowMs,
    },
    (forgettings) =>
      makeAuditEntry(state, context, 'wallet.reset-pin', walletId, {
        reason: `code ${isShownToOperator ? 'shown to the operator' : 'sent by email'}: ${reason}`,
        emails,
        // An address of the consumer's own gives the operator no access.
        ...(!isShownToOperator && effectsOfForgetting(forgettings)),
      }),
  )
  if (!isGiven)
    throw new Failure('status_does_not_allow', { message: 'The wallet is closed. It has no PIN.' })
  return {
    wallet: await find(state, walletId),
    expiresAtMs,
    isShownToOperator,
    code: isShownToOperator ? code : undefined,
    sentTo: isShownToOperator ? undefined : login,
  }
}

async function find({ wallets }: State, idOrLogin: string): Promise<Wallet> {
  const login = normaliseLogin(idOrLogin)
  const wallet =
    login === undefined ? await wallets.findWallet(idOrLogin) : await wallets.findWalletByLogin(login)
  if (!wallet) throw new Failure('not_found', { message: `Wallet ${idOrLogin} does not exist.` })
  return wallet
}

function codeEmails(
  state: State,
  wallet: Wallet,
  { code, expiresAtMs }: { code: string; expiresAtMs: number },
) {
  const to = mailTo(wallet)
  if (!to) return []
  return state.makeEmails('pin-code', { to, parameters: {}, link: code, giveUpAtMs: expiresAtMs })
}

async function setStatus(
  state: State,
  context: AnyContext,
  idOrLogin: string,
  status: Wallet['status'],
  reason: string,
): Promise<Wallet> {
  const { walletId } = await find(state, idOrLogin)
  const change = { walletId, status, nowMs: state.clock.now() }
  await state.wallets.setStatus(change, (forgettings, before) =>
    status === 'locked'
      ? makeAuditEntry(state, context, 'wallet.lock', walletId, { reason })
      : makeAuditEntry(state, context, 'wallet.unlock', walletId, {
          reason,
          // An operator's lock is not the result of wrong PINs.
          ...(before === 'active' && effectsOfForgetting(forgettings)),
        }),
  )
  return find(state, walletId)
}
