// Consumers in browsers without pictures, at their wallet.

import assert from 'node:assert/strict'
import { actingAs } from './acting.ts'
import { type ConsoleAnswer, ConsoleClient } from './console.ts'
import type { TestGateway } from './gateway.ts'

export const testPin = '246810'

export class WalletClient extends ConsoleClient {
  constructor(gateway: Pick<TestGateway, 'url'>) {
    super({ adminUrl: gateway.url })
  }

  override signIn(login: string, pin = testPin): Promise<ConsoleAnswer> {
    return this.post('/wallet/sign-in', { login, pin }, { on: '/wallet/sign-in' })
  }

  /** With all that the page's own form carries unseen. */
  async send(path: string, fields: Record<string, string>, on = path): Promise<ConsoleAnswer> {
    const { text } = await this.get(on)
    const [, number = ''] = /name="number" value="([^"]+)"/.exec(text) ?? []
    return this.post(path, { ...(number !== '' && { number }), ...fields }, { on })
  }
}

let wallets = 0

/** A new wallet with money in it, signed in. */
export async function consumerOf(
  gateway: TestGateway,
  { minor = 0n, currency = 'EUR' }: { minor?: bigint; currency?: string } = {},
) {
  const login = `consumer-${++wallets}@home.example`
  const given = { login, name: `Consumer ${wallets}`, pin: testPin, reason: 'test' }
  const manage = actingAs(gateway.operations, 'test').wallets
  const { wallet } = await manage.addWallet(given)
  if (minor > 0n)
    await manage.topUp({ wallet: wallet.walletId, currency, amountMinor: minor, reason: 'test' })
  const client = new WalletClient(gateway)
  const signedIn = await client.signIn(login)
  assert.equal(signedIn.status, 303, signedIn.text)
  return { client, login, walletId: wallet.walletId }
}
