// A real Chromium, driven headless. It may speak to this machine alone, and is closed when the test file is done.
import { after } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../../../scripts/chromium.ts'

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('Chromium is missing; run this file by: npm run test:browser')
  const browser = await chromium.launch({
    executablePath,
    args: [
      // Chromium's own sandbox does not work for root.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
  after(() => browser.close())
  return browser
}

export const phone = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
} as const
export const desktop = { viewport: { width: 1280, height: 800 } } as const

/** Between the two of them every width and every colour is seen. */
export const screens = [
  { size: 'desktop', colorScheme: 'light', options: { ...desktop, colorScheme: 'light' } },
  { size: 'phone', colorScheme: 'dark', options: { ...phone, colorScheme: 'dark' } },
] as const

/** A visitor before each of the screens. */
export const openScreens = (browser: Browser) =>
  Promise.all(screens.map(async (screen) => ({ ...screen, ...(await openPage(browser, screen.options)) })))

export interface WatchedPage {
  readonly page: Page
  /** What went wrong in the page: script errors, refused content, failed requests. */
  readonly troubles: readonly string[]
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  // Longer than playwright's half a minute, because others may have the machine.
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(`script error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(`console: ${message.text()}`)
  })
  return { page, troubles }
}

/** Waits for it. A page that never has it is shown with the failure. */
export async function heading(page: Page, name: string | RegExp): Promise<void> {
  try {
    await page.getByRole('heading', { name }).waitFor()
  } catch (cause) {
    throw new Error(`no heading ${name} at ${page.url()}, which reads:\n${await page.content()}`, { cause })
  }
}
