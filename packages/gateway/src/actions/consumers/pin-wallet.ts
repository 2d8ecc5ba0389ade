// A waiting request stores the wallet itself, because a login may belong to another wallet later: its owner can close the
// wallet, and register again.
import type { ActionCall } from '../action.ts'

export async function pinWallet({ operations, context, params }: ActionCall<{ walletId: string }>) {
  const { wallet } = await operations.wallets.showWallet(context, params.walletId)
  return { walletId: wallet.walletId }
}
