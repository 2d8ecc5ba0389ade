// What the clients in other languages need to be installed and tested: toolchains from Debian, and for PHP a client of
// PSR-18 that others wrote.
import { existsSync } from 'node:fs'
import { canInstall, install } from './debian.ts'

const needed = {
  'python3-venv': '/usr/share/python-wheels',
  'python3-pip': '/usr/lib/python3/dist-packages/pip',
  'python3-setuptools': '/usr/lib/python3/dist-packages/setuptools',
  'python3-wheel': '/usr/lib/python3/dist-packages/wheel',
  'python3-cryptography': '/usr/lib/python3/dist-packages/cryptography',
  mypy: '/usr/bin/mypy',
  'php-cli': '/usr/bin/php',
  composer: '/usr/bin/composer',
  'php-guzzlehttp-guzzle': '/usr/share/php/GuzzleHttp/autoload.php',
  'golang-go': '/usr/bin/go',
  'default-jdk-headless': '/usr/bin/javac',
}

/** Undefined when all is well, otherwise what a person must do. */
export function ensureLanguages(): string | undefined {
  const missing = () => Object.entries(needed).flatMap(([name, path]) => (existsSync(path) ? [] : [name]))
  const before = missing()
  if (before.length === 0) return undefined
  if (!canInstall()) return `Install first (Debian): sudo apt-get install ${before.join(' ')}`
  const trouble = install(...before)
  const after = missing()
  return after.length === 0 ? undefined : `Could not be installed: ${after.join(', ')}.\n${trouble ?? ''}`
}
