// Takes the pictures of the console that stand in docs/images anew: the browser tests take one of every page that they
// look at, and these are kept. `node scripts/console-pictures.ts`
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const tests = ['console.test.ts', 'console-overview.test.ts'].map((name) =>
  join('packages/gateway/test/browser', name),
)
/** By its name in docs/images, the name under which a test takes it. */
const pictures = {
  'console-overview-desktop.png': 'console-overview-desktop-light.png',
  'console-overview-phone.png': 'console-overview-phone-dark.png',
  'console-order-desktop.png': 'console-order-desktop-light.png',
  'console-callbacks-desktop.png': 'console-callbacks-desktop-light.png',
}

const folder = mkdtempSync(join(tmpdir(), 'tillgate-pictures-'))
try {
  const { status } = spawnSync(process.execPath, ['scripts/test.ts', ...tests], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SCREENSHOTS: folder },
  })
  if (status !== 0) throw new Error('the tests that take the pictures failed')
  for (const [kept, taken] of Object.entries(pictures))
    copyFileSync(join(folder, taken), join(root, 'docs/images', kept))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
