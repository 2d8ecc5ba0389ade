// Takes the pictures in docs/images anew: the browser tests take one of every page that they look at, and these are
// kept. `node scripts/pictures.ts` takes all, a word after it those whose names begin with it.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Picture {
  /** In packages/gateway/test/browser. */
  readonly test: string
  /** The name under which the test takes it. */
  readonly taken: string
}

const checkout = (taken: string): Picture => ({ test: 'checkout-looks.test.ts', taken })
const console = (taken: string): Picture => ({ test: 'console.test.ts', taken })

/** By name in docs/images, without `.png`. */
export const pictures: Readonly<Record<string, Picture>> = {
  'checkout-pay-desktop': checkout('checkout-pay-desktop'),
  'checkout-pay-phone': checkout('checkout-pay-phone'),
  'checkout-confirm-desktop': checkout('checkout-confirm-desktop'),
  'checkout-confirm-phone': checkout('checkout-confirm-phone'),
  'checkout-confirming-desktop': checkout('checkout-confirming-desktop'),
  'checkout-success-desktop': checkout('checkout-success-desktop'),
  'checkout-success-phone': checkout('checkout-success-phone'),
  'checkout-failed-desktop': checkout('checkout-failed-desktop'),
  'checkout-failed-phone': checkout('checkout-failed-phone'),
  'checkout-timeout-phone': checkout('checkout-timeout-phone'),
  'checkout-arabic-phone': checkout('checkout-language-ar'),
  'console-order-desktop': console('console-order-desktop-light'),
  'console-orders-phone': console('console-orders-phone-dark'),
  'console-callbacks-desktop': console('console-callbacks-desktop-light'),
  'console-overview-desktop': { test: 'console-overview.test.ts', taken: 'console-overview-desktop-light' },
  'playground-desktop': { test: 'playground.test.ts', taken: 'playground-desktop-light' },
}

if (import.meta.main) take(process.argv[2] ?? '')

function take(beginning: string): void {
  const root = join(import.meta.dirname, '..')
  const wanted = Object.entries(pictures).filter(([name]) => name.startsWith(beginning))
  if (wanted.length === 0) throw new Error(`there is no picture whose name begins with "${beginning}"`)
  const tests = new Set(wanted.map(([, { test }]) => join('packages/gateway/test/browser', test)))
  const folder = mkdtempSync(join(tmpdir(), 'tillgate-pictures-'))
  try {
    const { status } = spawnSync(process.execPath, ['scripts/test.ts', ...tests], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, SCREENSHOTS: folder },
    })
    if (status !== 0) throw new Error('the tests that take the pictures failed')
    for (const [name, { taken }] of wanted)
      copyFileSync(join(folder, `${taken}.png`), join(root, 'docs/images', `${name}.png`))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
