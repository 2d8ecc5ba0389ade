// The package that `npm run pack` makes, in a bare Debian with nothing but npm, and the image of ops/Dockerfile, both run
// for real: buildah and podman on a base that debootstrap makes of Debian's packages (no image registry is asked). The
// image runs with a read-only root, no capabilities and its own user.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { databaseUser, endDebianPostgres, freePort, startDebianPostgres } from '../support/debian-postgres.ts'

const root = join(import.meta.dirname, '../../../..')
const storage = mkdtempSync(join(tmpdir(), 'tillgate-image-'))
const places = ['--root', join(storage, 'storage'), '--runroot', join(storage, 'run')]
const runtime = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs']

const nodeImage = 'localhost/node'
const image = 'localhost/tillgate'
/** Holds the package alone. */
const context = join(storage, 'context')

const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1e8,
  })
const buildah = (...args: string[]) => run('buildah', [...places, ...args]).trim()
const podman = (...args: string[]) => run('podman', [...places, ...runtime, ...args]).trim()

/** Debian's smallest system with Debian's own npm, which runs on Node.js 18. */
const bareDebian = join(storage, 'bare')

function makeSystems(): void {
  const folder = join(storage, 'base')
  const [mirror = ''] = run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'])
    .split('\n')
    .filter((uri) => uri !== '' && !uri.includes('security'))
  run('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', folder, mirror])
  run('cp', ['--archive', folder, bareDebian])
  const install = 'apt-get update && apt-get install --yes --no-install-recommends npm'
  run('chroot', [bareDebian, 'env', 'DEBIAN_FRONTEND=noninteractive', 'sh', '-c', install])
  makeNodeImage(folder)
}

/** Our Node and npm in the smallest Debian: what `node:24-bookworm-slim` is elsewhere. */
function makeNodeImage(folder: string): void {
  const bin = join(folder, 'usr/local/bin')
  copyFileSync(process.execPath, join(bin, 'node'))
  chmodSync(join(bin, 'node'), 0o755)
  const modules = join(folder, 'usr/local/lib/node_modules')
  mkdirSync(modules, { recursive: true })
  // Not `npm root --global`: with the Node of node_modules in front, that names a folder without npm.
  const npm = realpathSync(run('which', ['npm']).trim())
  cpSync(join(npm, '../..'), join(modules, 'npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'))
  run('chroot', [folder, 'useradd', '--create-home', '--uid', '1000', 'node'])
  const container = buildah('from', 'scratch')
  buildah('add', '--quiet', container, folder, '/')
  buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
  buildah('commit', '--quiet', '--rm', container, nodeImage)
}

/** npm inside asks as npm outside does, with the certificates that this machine trusts. */
function npmAsHere(): string[] {
  const given = run('npm', ['config', 'get', 'userconfig']).trim()
  const file = join(storage, 'npmrc')
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  const lines = [
    existsSync(given) ? readFileSync(given, 'utf8') : '',
    certificates ? 'cafile=/run/ca.crt' : '',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const mounts = [`${file}:/root/.npmrc:ro`, ...(certificates ? [`${certificates}:/run/ca.crt:ro`] : [])]
  return mounts.flatMap((mount) => ['--volume', mount])
}

after(endDebianPostgres)
const server = await startDebianPostgres()
for (const mode of ['live', 'sandbox']) await server.query(`create database ${mode}`)
before(() => {
  makeSystems()
  mkdirSync(context)
  run(process.execPath, [join(root, 'scripts/pack.ts'), context])
  const file = ['--file', join(root, 'ops/Dockerfile'), '--build-arg', `NODE_IMAGE=${nodeImage}`]
  buildah(
    'bud',
    '--quiet',
    '--isolation',
    'chroot',
    '--format',
    'docker',
    ...npmAsHere(),
    ...file,
    '--tag',
    image,
    context,
  )
})
after(() => {
  const quiet = { stdio: 'ignore' } as const
  spawnSync('podman', [...places, ...runtime, 'rm', '--all', '--force', '--time', '0'], quiet)
  spawnSync('buildah', [...places, 'rm', '--all'], quiet)
  spawnSync('umount', ['--lazy', join(storage, 'storage/overlay')], quiet)
  // On a busy disk, deleting the base, the layers and the containers takes minutes, and this process would wait for it.
  spawn('rm', ['-rf', storage], { detached: true, stdio: 'ignore' }).unref()
})

const hardened = [
  '--read-only',
  '--tmpfs',
  '/tmp',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
]
// The limits that podman sets by itself may be above what this machine allows.
const limits = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096']

async function start(mode: 'live' | 'sandbox' = 'live'): Promise<{ id: string; adminUrl: string }> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const masterKey = join(storage, 'master.key')
  writeFileSync(masterKey, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o644 })
  const settings = {
    PORT: `${port}`,
    ADMIN_PORT: `${adminPort}`,
    HOST: '127.0.0.1',
    ADMIN_HOST: '127.0.0.1',
    MODE: mode,
    ...(mode === 'live' && { PUBLIC_URL: 'https://pay.example.com' }),
    TRUSTED_PROXIES: 'none',
    OPERATOR_PASSWORD: 'a password for tests',
    MASTER_KEY_FILE: '/run/master.key',
    // A database has one mode.
    DATABASE_URL: `postgresql://${databaseUser}@${server.address}/${mode}`,
  }
  const env = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  const key = ['--volume', `${masterKey}:/run/master.key:ro`]
  const id = podman('run', '--detach', '--network', 'host', ...hardened, ...limits, ...key, ...env, image)
  const adminUrl = `http://127.0.0.1:${adminPort}`
  await isReady(adminUrl)
  return { id, adminUrl }
}

async function isReady(adminUrl: string): Promise<void> {
  for (const deadline = performance.now() + 180_000; ; await pause(20)) {
    if ((await fetch(`${adminUrl}/readyz`).catch(() => undefined))?.status === 200) return
    assert(performance.now() < deadline, 'the container did not become ready')
  }
}

/** What the container's first process has used so far. */
function processorMs(id: string): number {
  const pid = podman('inspect', '--format', '{{.State.Pid}}', id)
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

test('the image starts, is healthy, writes nowhere but in its data, and stops by SIGTERM', async (t) => {
  const { id, adminUrl } = await start()
  const stop = () => {
    podman('stop', '--time', '60', id)
    assert.equal(podman('inspect', '--format', '{{.State.ExitCode}}', id), '0', podman('logs', id))
  }
  stop()
  // The database is there now: this is what a restart costs.
  const began = performance.now()
  podman('start', id)
  await isReady(adminUrl)
  const took = Math.round(performance.now() - began)
  t.diagnostic(
    `ready ${took} ms after a start on an existing database, ${processorMs(id)} ms of processor time`,
  )

  assert.equal((await fetch(`${adminUrl}/sign-in`)).status, 200)
  assert.equal(podman('exec', id, 'id', '-u'), '1000')
  // The command line has the container's settings.
  const operators = JSON.parse(podman('exec', id, 'tillgate', 'operator', 'list', '--json'))
  assert.match(JSON.stringify(operators), /"login":"admin"/)
  const script = (path: string) =>
    `try{require('fs').writeFileSync('${path}','');console.log('written')}catch(e){console.log(e.code)}`
  const write = (path: string) => podman('exec', id, 'node', '-e', script(path))
  assert.equal(write('/app/x'), 'EROFS')
  assert.equal(write('/usr/local/bin/x'), 'EROFS')
  assert.equal(write('/var/lib/tillgate/x'), 'written')
  const status = podman('exec', id, 'cat', '/proc/1/status')
  assert.match(status, /CapEff:\s+0+\n/)
  assert.match(status, /NoNewPrivs:\s+1\n/)
  const health = JSON.parse(podman('inspect', '--format', '{{json .Config.Healthcheck.Test}}', id))
  assert.equal(health[0], 'CMD')
  podman('exec', id, ...health.slice(1).map((part: string) => part.replace('8081', new URL(adminUrl).port)))
  stop()
})

/** The README's first request, from this machine, to the sandbox whose file is in `data` of the folder. */
function firstRequest(folder: string): void {
  const script = readFileSync(join(root, 'examples/create-order.sh'), 'utf8')
  const { code, data } = JSON.parse(
    execFileSync('sh', ['-c', script], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  assert.equal(code, 20_000)
  assert.match(data.checkoutUrl, /^http/)
}

test('in a bare Debian with nothing but npm, the package runs a sandbox that answers the first request', async (t) => {
  const home = join(storage, 'home')
  mkdirSync(home)
  const [name = ''] = readdirSync(context)
  copyFileSync(join(context, name), join(home, name))
  const settings = { PORT: '0', ADMIN_PORT: '0', HOST: '127.0.0.1', SHOP_PORT: 'off', RAIL_PORT: 'off' }
  const env = Object.entries(settings).flatMap(([setting, value]) => ['--env', `${setting}=${value}`])
  const place = ['--volume', `${home}:/home/trial`, '--workdir', '/home/trial']
  const began = performance.now()
  const id = podman(
    ...['run', '--detach', '--network', 'host', ...limits, ...place, ...npmAsHere(), ...env],
    ...['--rootfs', `${bareDebian}:O`, 'npx', '--yes', `./${name}`],
  )
  // npm loads Node.js and PostgreSQL, too.
  for (const deadline = began + 600_000; !podman('logs', id).includes('"msg":"ready"'); await pause(250)) {
    const isRunning = podman('inspect', '--format', '{{.State.Running}}', id) === 'true'
    assert(isRunning && performance.now() < deadline, `not ready:\n${podman('logs', id)}`)
  }
  t.diagnostic(`installed by npm and ready after ${Math.round(performance.now() - began)} ms`)
  firstRequest(home)
  podman('stop', '--time', '60', id)
})

test('the image runs a sandbox that answers the first request', async () => {
  const { id } = await start('sandbox')
  const home = join(storage, 'image')
  mkdirSync(join(home, 'data'), { recursive: true })
  const file = 'sandbox-merchant.json'
  writeFileSync(join(home, 'data', file), podman('exec', id, 'cat', `/var/lib/tillgate/${file}`), {
    mode: 0o600,
  })
  firstRequest(home)
  podman('stop', '--time', '60', id)
})

test('nothing for developers is in the image, and its parts are listed', () => {
  const installed = podman('run', '--rm', ...limits, image, 'ls', 'node_modules')
  assert.deepEqual(installed.split('\n').sort(), ['tillgate', 'undici'])
  const list = JSON.parse(
    run('npm', [
      'sbom',
      '--prefix',
      root,
      '--sbom-format',
      'cyclonedx',
      '--package-lock-only',
      '--omit',
      'dev',
      '--omit',
      'optional',
    ]),
  )
  assert.equal(list.bomFormat, 'CycloneDX')
  const names = list.components.map((each: { name: string }) => each.name)
  assert(names.includes('pg') && !names.includes('typescript'))
})
