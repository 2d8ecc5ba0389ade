// How soon somebody sees a page on a slow phone: Chromium as Lighthouse holds it for "slow 4G" and a processor four times
// slower, from the click to the largest paint. And how much script the page brings.
import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { openPage, phone } from './browser.ts'

const mostMs = 1_000
const mostScriptBytes = 15_000
const slow4g = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
}
/** Of several, because other work on this machine makes one slower and none quicker. */
const runs = 12

const largestPaint = `new Promise((resolve) => {
  let last = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) last = entry.startTime
  }).observe({ type: 'largest-contentful-paint', buffered: true })
  setTimeout(() => resolve(last), 1500)
})`

/** With nothing of the page in the browser's memory; what the browser has is put there by `prepare`. */
export async function assertQuick(
  browser: Browser,
  name: string,
  { url, prepare }: { url: () => Promise<string>; prepare?: (page: Page) => Promise<void> },
): Promise<void> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const { page } = await openPage(browser, phone)
    await prepare?.(page)
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', slow4g)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    const wanted = await url()
    await page.goto(wanted)
    assert.equal(page.url(), wanted)
    times.push(Number(await page.evaluate(largestPaint)))
    if (run === 0) await assertLittleScript(page)
    await page.context().close()
    if (Math.min(...times) < mostMs) break
  }
  process.stdout.write(`${name}: ${times.map((ms) => Math.round(ms)).join(', ')} ms\n`)
  assert(Math.min(...times) > 0 && Math.min(...times) < mostMs, times.join(', '))
}

async function assertLittleScript(page: Page): Promise<void> {
  const paths = await page.locator('script[src]').evaluateAll((all) => all.map((each) => each.src))
  let bytes = 0
  for (const path of paths) bytes += (await (await fetch(path)).arrayBuffer()).byteLength
  assert(bytes <= mostScriptBytes, `${bytes} bytes of script`)
}
