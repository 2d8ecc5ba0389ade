// There is no Docker engine here, so the steps of ops/Dockerfile are carried out by hand: the package is installed in an
// empty folder, and its command run as an ordinary user who may write nowhere but in DATA_DIR. And systemd reads our unit.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  databaseUser,
  endDebianPostgres,
  startDebianPostgres,
  workFolder,
  workshop,
} from '../support/debian-postgres.ts'
import { lineWith } from '../support/process.ts'

const root = join(import.meta.dirname, '../../../..')

after(endDebianPostgres)

interface Instruction {
  readonly word: string
  readonly rest: string
}

function readDockerfile(): Instruction[] {
  const text = readFileSync(join(root, 'ops/Dockerfile'), 'utf8').replace(/\\\n\s*/g, '')
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [word = '', ...rest] = line.split(' ')
      return { word, rest: rest.join(' ') }
    })
}

test('the steps of the Dockerfile give a gateway that an ordinary user runs from a tree that nobody can write to', async () => {
  const app = workFolder('app')
  const instructions = readDockerfile()
  const packed = execFileSync(process.execPath, [join(root, 'scripts/pack.ts'), workFolder('packed')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for (const { word, rest } of instructions) {
    if (word !== 'RUN' || !rest.startsWith('npm ')) continue
    const args = rest.replace('/tmp/tillgate.tgz', packed.trim()).split(' ').slice(1)
    execFileSync('npm', args, { cwd: app, stdio: 'pipe' })
  }
  assert.deepEqual(readdirSync(join(app, 'node_modules/.bin')).sort(), ['till', 'tillgate'])
  execFileSync('chmod', ['-R', 'a-w,a+rX', app])

  const settings = Object.fromEntries(
    instructions
      .filter(({ word }) => word === 'ENV')
      .flatMap(({ rest }) => rest.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
  )
  const [program = '', ...args] = JSON.parse(instructions.find(({ word }) => word === 'CMD')?.rest ?? '[]')
  assert.equal(program, 'node')
  const node = join(workFolder('bin'), 'node')
  cpSync(process.execPath, node)
  chmodSync(node, 0o755)
  const server = await startDebianPostgres()
  const masterKey = join(workshop.folder, 'master.key')
  writeFileSync(masterKey, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o644 })
  const child = spawn(node, args, {
    ...workshop.account,
    cwd: app,
    env: {
      ...settings,
      DATA_DIR: workFolder('state'),
      HOST: '127.0.0.1',
      ADMIN_HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      MODE: 'live',
      PUBLIC_URL: 'https://pay.example.com',
      TRUSTED_PROXIES: 'none',
      OPERATOR_PASSWORD: 'a password for tests',
      MASTER_KEY_FILE: masterKey,
      DATABASE_URL: `postgresql://${databaseUser}@${server.address}/${databaseUser}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const { adminUrl } = JSON.parse(await lineWith({ child, output: () => output }, '"msg":"ready"'))
  assert.equal((await fetch(`${adminUrl}/readyz`)).status, 200)
  assert.equal((await fetch(`${adminUrl}/sign-in`)).status, 200)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null], output)
})

test('systemd finds nothing wrong with the unit, and little exposed by it', (t) => {
  const unit = join(workFolder('unit'), 'tillgate.service')
  const text = readFileSync(join(root, 'ops/tillgate.service'), 'utf8')
  // The program is not installed there on this machine, and that alone would be complained of.
  writeFileSync(unit, text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
  const words = execFileSync('systemd-analyze', ['verify', unit], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  assert.equal(words, '')
  const report = execFileSync('systemd-analyze', ['security', '--offline=true', unit], { encoding: 'utf8' })
  const level = Number(/exposure level for \S+: ([\d.]+)/.exec(report)?.[1])
  assert.ok(level < 2, report)
  t.diagnostic(`exposure level ${level}; 10 is the worst`)
})

test('the command line under systemd has the settings, the user and the master key of the unit', async () => {
  const unit = readFileSync(join(root, 'ops/tillgate.service'), 'utf8')
  const folder = workFolder('systemd')
  // In place of systemd: it hands over the credential and runs what it is given, from this tree.
  const credentials = join(folder, 'credentials')
  mkdirSync(credentials)
  writeFileSync(join(credentials, 'master-key'), Buffer.alloc(32, 7).toString('base64'))
  const shim = `#!/bin/sh
printf '%s\\n' "$@" > ${join(folder, 'arguments')}
while [ "$1" != /bin/sh ]; do shift; done
exec env CREDENTIALS_DIRECTORY=${credentials} "$@"
`
  writeFileSync(join(folder, 'systemd-run'), shim, { mode: 0o755 })
  const script = readFileSync(join(root, 'ops/tillgate'), 'utf8').replaceAll('/opt/tillgate', root)
  writeFileSync(join(folder, 'tillgate'), script, { mode: 0o755 })
  const server = await startDebianPostgres()
  const words = execFileSync(join(folder, 'tillgate'), ['master-key', 'status', '--json'], {
    encoding: 'utf8',
    env: {
      PATH: `${folder}:${process.env['PATH']}`,
      DATA_DIR: workFolder('command-data'),
      DATABASE_URL: `postgresql://${databaseUser}@${server.address}/${databaseUser}`,
    },
  })
  assert.doesNotThrow(() => JSON.parse(words), words)
  const given = readFileSync(join(folder, 'arguments'), 'utf8').replaceAll(root, '/opt/tillgate')
  for (const name of ['WorkingDirectory', 'EnvironmentFile', 'LoadCredential']) {
    const [line = ''] = new RegExp(`^${name}=.*$`, 'm').exec(unit) ?? []
    assert(given.includes(`--property=${line}\n`), `${line} is in both`)
  }
  assert.match(given, /^--uid=tillgate$/m)
  assert.match(given, /^--setenv=DATA_DIR=\/var\/lib\/tillgate$/m)
})

test('image and unit run the program as npm start does', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [variable, options] =
    /(\S+) exec node (.+) packages\/gateway\/start\.js$/.exec(scripts.start)?.slice(1) ?? []
  assert(variable !== undefined && options !== undefined, scripts.start)
  const instructions = readDockerfile()
  assert(instructions.some(({ word, rest }) => word === 'ENV' && rest.includes(variable)))
  const command = JSON.parse(instructions.find(({ word }) => word === 'CMD')?.rest ?? '[]')
  const inPackage = 'node_modules/tillgate/packages/gateway/start.js'
  assert.deepEqual(command, ['node', ...options.split(' '), inPackage])
  const unit = readFileSync(join(root, 'ops/tillgate.service'), 'utf8')
  assert(unit.includes(`\nEnvironment=${variable}\n`))
  assert(unit.includes(`/node ${options} /opt/tillgate/packages/gateway/start.js\n`))
})
