// What the suite `ops` needs beyond npm's packages: a PostgreSQL server with its tools, PgBouncer, the reader
// of systemd's units, reverse proxies, fail2ban, and what builds and runs containers, from Debian.
// Tests start them themselves, in folders of their own; no service is left running.
import { existsSync, globSync, rmSync, writeFileSync } from 'node:fs'
import { canInstall, install } from './debian.ts'

const needed = [
  { package: 'postgresql', isThere: () => globSync('/usr/lib/postgresql/*/bin/initdb').length > 0 },
  { package: 'postgresql-client', isThere: () => globSync('/usr/lib/postgresql/*/bin/pg_dump').length > 0 },
  { package: 'pgbouncer', isThere: () => existsSync('/usr/sbin/pgbouncer') },
  { package: 'systemd', isThere: () => existsSync('/usr/bin/systemd-analyze') },
  { package: 'debootstrap', isThere: () => existsSync('/usr/sbin/debootstrap') },
  { package: 'buildah', isThere: () => existsSync('/usr/bin/buildah') },
  { package: 'podman', isThere: () => existsSync('/usr/bin/podman') },
  { package: 'runc', isThere: () => existsSync('/usr/sbin/runc') },
  { package: 'nginx', isThere: () => existsSync('/usr/sbin/nginx') },
  { package: 'caddy', isThere: () => existsSync('/usr/bin/caddy') },
  { package: 'fail2ban', isThere: () => existsSync('/usr/bin/fail2ban-regex') },
] as const
type OpsPackage = (typeof needed)[number]['package']

/** All of them, or those that are named. Undefined when all is well, otherwise what a person must do. */
export function ensureOpsPackages(
  names: readonly OpsPackage[] = needed.map((each) => each.package),
): string | undefined {
  const missing = () =>
    needed.filter((each) => names.includes(each.package) && !each.isThere()).map((each) => each.package)
  const before = missing()
  if (before.length === 0) return undefined
  if (!canInstall()) {
    return `The ops tests need what is missing here: ${before.join(', ')}.\nInstall it (Debian: sudo apt-get install ${before.join(' ')}); it need not run as a service.`
  }
  console.log(`\n• installing ${before.join(', ')} for the ops tests`)
  const trouble = withoutServices(() => install(...before))
  const after = missing()
  return after.length === 0 ? undefined : `Could not be installed: ${after.join(', ')}.\n${trouble ?? ''}`
}

/** Debian asks this program before a package starts its service; 101 forbids it. */
function withoutServices<Result>(work: () => Result): Result {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return work()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return work()
  } finally {
    rmSync(policy, { force: true })
  }
}
