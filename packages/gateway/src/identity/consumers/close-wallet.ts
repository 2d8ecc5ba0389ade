// A consumer closes the wallet permanently. It must be empty, with no pending transaction. Name and login are then
// erased here and in the orders that it paid, and unpaid top-ups are cancelled. After a crash in between, the wallet is
// still open, and closing it again completes the work.
import { makeCallbackId } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { erase } from '../../core/orders/erase-personal-data.ts'
import { isOverdue } from '../../core/orders/rules/expiry.ts'
import type { Order } from '../../core/orders/rules/order.ts'
import { cancelOrder, expireOrder } from '../../core/orders/rules/status-change.ts'
import { placeOfPin } from '../../core/wallets/rules/wallet.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { sealHash } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { Closing, ClosingStore, ClosingWallet } from './store/closing.ts'

export interface CloseWalletParts extends ClockAndRandom {
  readonly closing: ClosingStore
  readonly vault: Vault
}

const ordersPerBatch = 500
const secretBytes = 32
const nameOfClosed = 'Closed wallet'

export type CloseWallet = ReturnType<typeof makeCloseWallet>

export function makeCloseWallet({ closing, vault, clock, random }: CloseWalletParts) {
  return async (wallet: ClosingWallet, actor: string): Promise<Closing> => {
    for (;;) {
      const { closing: now, paidMinor } = await closing.check(wallet)
      if (now !== 'empty') return now
      await eraseOrders(wallet.walletId)
      const closed = await close({ ...wallet, paidMinor }, actor)
      if (closed !== 'paid') return closed
    }
  }

  async function eraseOrders(walletId: string): Promise<void> {
    for (let after = ''; ; ) {
      const { seen, last } = await closing.eraseOrders({ walletId, after, limit: ordersPerBatch, erase })
      if (seen < ordersPerBatch) return
      after = last
    }
  }

  async function close(
    wallet: ClosingWallet & { readonly paidMinor: bigint },
    actor: string,
  ): Promise<Closing | 'paid'> {
    const { walletId } = wallet
    const secret = Buffer.from(random(secretBytes)).toString('base64url')
    const sealedPin = await sealHash({ secret, place: placeOfPin(walletId) }, { vault, random })
    const entry = makeAuditEntry({ clock, random }, { actor }, 'wallet.close', walletId)
    const nowMs = entry.actedAtMs
    const endTopUp = (order: Order) => {
      const given = { nowMs, callbackId: makeCallbackId(nowMs, random) }
      return isOverdue(order, nowMs)
        ? expireOrder(order, given)
        : cancelOrder(order, { ...given, actor: 'consumer' })
    }
    return (await closing.close({ ...wallet, sealedPin, name: nameOfClosed, endTopUp }, entry)).closing
  }
}
