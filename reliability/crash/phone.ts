// A consumer's phone at the wallet of the sandbox. It shows a code for a store, whenever the gateway is there to make one.

import { testWalletPin } from '../../packages/gateway/src/sandbox/test-wallets.ts'
import { WalletClient } from '../../packages/gateway/test/support/wallet.ts'

export class Phone {
  readonly #client: WalletClient

  constructor(url: string) {
    this.#client = new WalletClient({ url })
  }

  /** Undefined while the gateway is away, or where the phone had to sign in first. */
  async showCode(): Promise<string | undefined> {
    try {
      const { text } = await this.#client.get('/wallet/in-store')
      const [, digits] = /class="digits"[^>]*>([\d ]+)</.exec(text) ?? []
      if (digits === undefined) await this.#client.signIn('approves@sandbox.test', testWalletPin)
      return digits
    } catch {
      return undefined
    }
  }
}
