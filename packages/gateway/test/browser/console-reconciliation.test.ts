// Reconciliation in a real browser: breaks, a break with both sides, statements and days, light and dark, large and small.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { actingAs } from '../support/acting.ts'
import { launchBrowser, screens } from '../support/browser.ts'
import { signIn } from '../support/console-browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
after(() => browser.close())
const { reconciliation } = actingAs(gateway.operations, 'test')
const lines = Array.from({ length: 9 }, (_, index) => ({
  reference: `B${index}`,
  day: `2026-01-0${index + 1}`,
  partyIban: 'NL91ABNA0417164300',
  amountMinor: BigInt(index % 2 === 0 ? 12_500 + index : -35 * index),
  text:
    index % 2 === 0 ? 'Somebody paid for something, with a long text that wraps on a phone' : 'Account fee',
}))
/** What the sandbox's test wallets were filled with, long before. */
const openingMinor = 500_000_000_000n
const statement = { iban: 'DE89370400440532013000', currency: 'EUR', version: 8, openingMinor } as const
const file = fileOf(
  'january.xml',
  camt053({ ...statement, from: '2026-01-01', through: '2026-01-09', lines }),
)
await reconciliation.importStatement({ file, account: 'bank:main', reason: 'test' })
const [found] = await reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 1 })
assert(found)
await reconciliation.breaks.note(found.breakId, 'The bank was asked, and will say on Monday.')
await reconciliation.days.closeDay({ account: 'bank:main', currency: 'EUR' }, '2026-01-04', 'test')

/** How much of the list is out of sight on the right. */
const hiddenWidth =
  "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('table').parentElement)"

const pages = {
  breaks: '/reconciliation',
  break: `/reconciliation/breaks/${found.breakId}`,
  statements: '/reconciliation/imports',
  days: '/reconciliation/days',
}

for (const { size, options } of screens)
  test(`reconciliation on ${size}`, async () => {
    const { page } = await signIn(browser, gateway, options)
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(gateway.adminUrl + path)
      if (name === 'breaks' && size !== 'phone') assert.equal(await page.evaluate(hiddenWidth), 0, size)
      await look(page, `reconciliation-${name}-${size}`, { onlyColours: size === 'phone' })
    }
    await page.context().close()
  })
