// A consumer closes the wallet for good. It must be empty, with nothing under way; then name and login are erased, here and
// in the orders that it paid, and top-ups that nobody began to pay are cancelled. Killed in between, it is still open, and closing
// it again does the rest.
import { makeCallbackId } from '@tillgate/protocol'
import { makeActs } from '../operators/audit-entries.ts'
import { erase } from '../orders/erase-personal-data.ts'
import { isOverdue } from '../orders/rules/expiry.ts'
import type { Order } from '../orders/rules/order.ts'
import { cancelOrder, expireOrder } from '../orders/rules/status-change.ts'
import type { ClockAndRandom } from '../platform/clock.ts'
import { sealHash } from '../platform/secret-hash.ts'
import type { Vault } from '../platform/vault.ts'
import { placeOfPin } from './rules/wallet.ts'
import type { Closing, ClosingStore } from './store/closing.ts'

export interface CloseWalletParts extends ClockAndRandom {
  readonly closing: ClosingStore
  readonly vault: Vault
}

const ordersPerBatch = 500
const secretBytes = 32
const nameOfClosed = 'Closed wallet'

export type CloseWallet = ReturnType<typeof makeCloseWallet>

export function makeCloseWallet({ closing, vault, clock, random }: CloseWalletParts) {
  return async (walletId: string, actor: string): Promise<Closing> => {
    const now = await closing.check(walletId)
    if (now !== 'closed') return now
    for (let after = ''; ; ) {
      const { seen, last } = await closing.eraseOrders({ walletId, after, limit: ordersPerBatch, erase })
      if (seen < ordersPerBatch) break
      after = last
    }
    const secret = Buffer.from(random(secretBytes)).toString('base64url')
    const sealedPin = await sealHash({ secret, place: placeOfPin(walletId) }, { vault, random })
    const act = makeActs({ clock, random, actor })('wallet.close', walletId)
    const nowMs = act.actedAtMs
    const endTopUp = (order: Order) => {
      const given = { nowMs, callbackId: makeCallbackId(nowMs, random) }
      return isOverdue(order, nowMs)
        ? expireOrder(order, given)
        : cancelOrder(order, { ...given, actor: 'consumer' })
    }
    return (await closing.close({ walletId, sealedPin, name: nameOfClosed, endTopUp }, act)).closing
  }
}
