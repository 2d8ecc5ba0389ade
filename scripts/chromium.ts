// Browser tests run in a real Chromium. One that is missing is installed where that is possible (root on
// Debian); elsewhere the message says what to do. Nothing is ever skipped in silence.
import { existsSync } from 'node:fs'
import { canInstall, install } from './debian.ts'

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

export function findChromium(): string | undefined {
  const chosen = process.env['CHROMIUM_PATH']
  if (chosen) return existsSync(chosen) ? chosen : undefined
  return usualPlaces.find((path) => existsSync(path))
}

/** Undefined when all is well, otherwise what a person must do. */
export function ensureChromium(): string | undefined {
  if (findChromium()) return undefined
  if (process.env['CHROMIUM_PATH'])
    return `There is no browser at CHROMIUM_PATH (${process.env['CHROMIUM_PATH']}).`
  if (!canInstall()) {
    return 'The browser tests need Chromium: install it (Debian: sudo apt-get install chromium), or set CHROMIUM_PATH.'
  }
  console.log('\n• installing Chromium for the browser tests')
  const trouble = install('chromium')
  if (trouble !== undefined) return `Chromium could not be installed:\n${trouble}`
  return findChromium()
    ? undefined
    : 'Chromium was installed, but it is not where it is expected. Set CHROMIUM_PATH.'
}
