// Passkeys in a real browser with Chromium's virtual authenticator: made on the account's page, then used instead of the
// password, in the portal, in the console and at the wallet.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { desktop, launchBrowser, openPage, phone } from '../support/browser.ts'
import { startTestGateway } from '../support/gateway.ts'
import { look } from '../support/look.ts'
import { memberOf, memberPassword } from '../support/portal.ts'
import { operatorPassword } from '../support/started.ts'
import { consumerOf, testPin } from '../support/wallet.ts'

const gateway = await startTestGateway()
const browser = await launchBrowser()
// A passkey is bound to a name.
const [url, adminUrl] = [gateway.url, gateway.adminUrl].map((each) => each.replace('127.0.0.1', 'localhost'))

async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

test('a member makes a passkey on a phone and signs in with it', async () => {
  const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
  const { email } = await memberOf(gateway, merchantId, 'owner')
  const { page, troubles } = await openPage(browser, phone)
  await addAuthenticator(page)
  await page.goto(`${url}/merchant/account`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(memberPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('link', { name: 'Passkeys' }).click()
  await page.getByLabel('Your password').fill(memberPassword)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill('phone')
  await look(page, 'portal-passkey-make-phone-light')
  await page.getByRole('button', { name: /^(Create|Make the) passkey$/ }).click()
  await page.getByText(/passkey (is )?added/i).waitFor()
  await look(page, 'portal-passkeys-phone-light')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await look(page, 'portal-passkey-sign-in-phone-light')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${url}/merchant`)
  await page.goto(`${url}/merchant/account/passkeys`)
  await page.getByRole('link', { name: 'Remove' }).click()
  await look(page, 'portal-passkey-remove-phone-light')
  await page.getByLabel('Your password').fill(memberPassword)
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText(/passkey (is )?removed/i).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText(/passkey is (unknown|not registered)/).waitFor()
  assert.deepEqual(
    troubles.filter((each) => !/401/.test(each)),
    [],
  )
})

test('an operator makes a passkey and signs in with it; a browser that knows none says so', async () => {
  const { page, troubles } = await openPage(browser, { ...desktop, colorScheme: 'dark' })
  await addAuthenticator(page)
  await page.goto(`${adminUrl}/account/passkeys`)
  await page.getByLabel('Login').fill('admin')
  await page.getByLabel('Password').fill(operatorPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('Your password').fill(operatorPassword)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill('laptop')
  await look(page, 'console-passkey-make-desktop-dark')
  await page.getByRole('button', { name: /^(Create|Make the) passkey$/ }).click()
  await page.getByText(/passkey (is )?added/i).waitFor()
  await look(page, 'console-passkeys-desktop-dark')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await look(page, 'console-passkey-sign-in-desktop-dark')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${adminUrl}/overview`)
  assert.deepEqual(troubles, [])

  const { page: other } = await openPage(browser, desktop)
  await other.goto(`${gateway.adminUrl}/sign-in`)
  assert.equal(await other.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0)
})

test('a consumer makes a passkey on a phone and signs in to the wallet with it', async () => {
  const { login } = await consumerOf(gateway, { minor: 5_000n })
  const { page, troubles } = await openPage(browser, { ...phone, colorScheme: 'dark' })
  await addAuthenticator(page)
  await page.goto(`${url}/wallet/passkeys`)
  await look(page, 'wallet-passkey-sign-in-phone-dark')
  await page.getByLabel('Email or phone number').fill(login)
  await page.getByLabel('PIN').fill(testPin)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await look(page, 'wallet-passkeys-none-phone-dark')
  await page.getByLabel('Your PIN').fill(testPin)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill('phone')
  await look(page, 'wallet-passkey-make-phone-dark')
  await page.getByRole('button', { name: /^(Create|Make the) passkey$/ }).click()
  await page.getByText(/passkey (is )?added/i).waitFor()
  await look(page, 'wallet-passkeys-phone-dark')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${url}/wallet`)
  await page.goto(`${url}/wallet/passkeys`)
  await page.getByRole('link', { name: 'Remove' }).click()
  await look(page, 'wallet-passkey-remove-phone-dark')
  await page.getByLabel('Your PIN').fill(testPin)
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText(/passkey (is )?removed/i).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText(/passkey is (unknown|not registered)/).waitFor()
  assert.deepEqual(
    troubles.filter((each) => !/422/.test(each)),
    [],
  )
})
