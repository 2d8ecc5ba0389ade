// How soon a consumer sees the wallet's pages on a slow phone, with a full page of history.

import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { launchBrowser } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { assertQuick } from '../support/page-speed.ts'
import { consumerOf } from '../support/wallet.ts'

const gateway = await startTestGateway()
const { client, walletId } = await consumerOf(gateway, { minor: 123_456n })
const entriesOnPage = 20
for (let entry = 0; entry < entriesOnPage; entry++)
  await actingAs(gateway.operations, 'test').wallets.topUp({
    wallet: walletId,
    currency: 'EUR',
    amountMinor: 100n,
    reason: 'test',
  })
const browser = await launchBrowser()
const { url } = gateway

for (const path of ['/sign-in', '', '/history', '/top-up', '/withdraw', '/settings'])
  test(`/wallet${path} is painted within a second on a slow phone, with at most 15 kB of script`, () =>
    assertQuick(browser, `/wallet${path}`, {
      url: async () => `${url}/wallet${path}`,
      prepare: async (page) => {
        if (path !== '/sign-in')
          await page.context().addCookies([...client.cookies].map(([name, value]) => ({ name, value, url })))
      },
    }))
