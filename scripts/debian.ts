// Installs Debian packages where that is possible: root, on Debian. Nothing is ever skipped in silence.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

export function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

/** Undefined when all is well, otherwise what went wrong. */
export function install(...packages: readonly string[]): string | undefined {
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...packages],
  ]) {
    const { status, stderr } = spawnSync('apt-get', args, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    })
    if (status !== 0 && args[0] === 'install') return stderr
  }
  return undefined
}
