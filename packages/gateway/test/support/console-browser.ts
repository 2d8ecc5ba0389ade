// Signing in to the console in a real browser.
import type { Browser } from 'playwright-core'
import { desktop, openPage, type WatchedPage } from './browser.ts'
import type { TestGateway } from './gateway.ts'
import { operatorPassword } from './started.ts'

export async function signIn(
  browser: Browser,
  { adminUrl }: Pick<TestGateway, 'adminUrl'>,
  options: Parameters<typeof openPage>[1] = desktop,
): Promise<WatchedPage> {
  const watched = await openPage(browser, options)
  await watched.page.goto(adminUrl)
  await watched.page.getByLabel('Login').fill('admin')
  await watched.page.getByLabel('Password').fill(operatorPassword)
  await watched.page.getByRole('button', { name: 'Sign in' }).click()
  await watched.page.waitForURL(`${adminUrl}/**`)
  return watched
}
