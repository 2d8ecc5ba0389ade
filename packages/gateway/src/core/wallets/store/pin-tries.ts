// Counts PIN tries across all processes: each try locks the wallet's row and its own counter, so that parallel tries
// are counted one after the other.

import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { noTries } from '../../../platform/runtime/lockout.ts'
import type { NewEmail } from '../../emails/rules/email.ts'
import { queueEmails } from '../../emails/store/queue-emails.ts'
import { decidePinTry, type TriesLeft, triesLeft } from '../rules/pin-lock.ts'
import { isDeviceOf, type KnownDevice, type Wallet } from '../rules/wallet.ts'
import {
  allAddresses,
  deleteForgotten,
  deleteSource,
  findOthersSince,
  lockSources,
  setSource,
} from './pin-try-sources.ts'
import { takeCodeTry } from './wallet-access.ts'
import { findWalletForTry, setWalletTries } from './wallets.ts'

export type PinTriesStore = ReturnType<typeof makePinTriesStore>

export function makePinTriesStore(database: Pool) {
  return {
    /** Counts a try before its result is known, with the same statements for an unknown login. */
    take: (attempt: PinAttempt) => database.transaction((transaction) => take(transaction, attempt)),
    /**
     * Also counts a try of the reset code. One transaction, because a second commit only for wallets with a code
     * would reveal them by its duration.
     */
    takeWithCode: (attempt: PinAttempt) =>
      database.transaction(async (transaction) => {
        const taken = await take(transaction, attempt)
        if (taken.kind === 'locked') return taken
        const walletId = taken.found?.wallet.walletId ?? ''
        return { ...taken, codeHash: await takeCodeTry(transaction, walletId, attempt.nowMs) }
      }),
    forget: (taken: TakenTry, emails: readonly NewEmail[]) =>
      database.transaction(async (transaction) => {
        await forget(transaction, taken)
        await queueEmails(transaction, emails)
      }),
    deleteForgotten: (nowMs: number) => deleteForgotten(database, nowMs),
  }
}

export interface PinAttempt {
  readonly login: string
  readonly address: string
  /** A device that signed in to this wallet before. */
  readonly device: KnownDevice | undefined
  readonly nowMs: number
}

export interface TakenTry {
  readonly kind: 'taken'
  readonly login: string
  readonly source: string
  readonly isKnownDevice: boolean
  /** After this try, if it is wrong. */
  readonly left: TriesLeft
  /** Undefined if the login is unknown. */
  readonly found: { readonly wallet: Wallet; readonly sealedPin: Buffer } | undefined
}

/** An operator's lock has no end and is shown only after a correct PIN. */
export interface LockedTry {
  readonly kind: 'locked'
  readonly untilMs: number | undefined
}

async function take(transaction: Queryable, attempt: PinAttempt): Promise<TakenTry | LockedTry> {
  const { login, device, nowMs } = attempt
  const found = await findWalletForTry(transaction, login)
  const deviceId = isDeviceOf(device, found?.wallet) ? device.deviceId : undefined
  const isKnownDevice = deviceId !== undefined
  const source = isKnownDevice ? `device ${deviceId}` : `address ${attempt.address}`
  const key = { source, login, nowMs }
  const othersSinceMs = isKnownDevice ? undefined : await findOthersSince(transaction, key)
  const counted = await lockSources(transaction, key)
  const wallet = found ? found.tries : counted.allAddresses
  const decided = decidePinTry(
    { othersSinceMs, source: counted.source, wallet: isKnownDevice ? undefined : wallet },
    nowMs,
  )
  if (decided.kind === 'locked') return decided
  await setSource(transaction, key, decided.source)
  if (decided.wallet) {
    // Either statement runs, so that an unknown login locks like a wallet.
    if (found) await setWalletTries(transaction, found.wallet.walletId, decided.wallet)
    else await setSource(transaction, { ...key, source: allAddresses }, decided.wallet)
  }
  return { kind: 'taken', login, source, isKnownDevice, left: triesLeft(decided), found }
}

/** A correct PIN on a known device does not reset the tries of others. */
async function forget(
  transaction: Queryable,
  { login, source, isKnownDevice, found }: TakenTry,
): Promise<void> {
  if (found && !isKnownDevice) await setWalletTries(transaction, found.wallet.walletId, noTries)
  await deleteSource(transaction, { source, login })
}
