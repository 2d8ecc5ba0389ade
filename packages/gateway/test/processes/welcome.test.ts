// What a person at a terminal sees of a first start: a real process on a terminal of its own.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type Running, welcome } from '../../src/app/welcome.ts'
import { ConsoleClient } from '../support/console.ts'
import { startProcess, startScript, temporaryFolder } from '../support/process.ts'

const running: Running = {
  mode: 'sandbox',
  processes: 1,
  publicUrl: 'http://localhost:8080',
  adminUrl: 'http://localhost:8081',
  shopUrl: 'http://localhost:8082',
  railUrl: 'http://localhost:8083',
  isAccessGiven: true,
  hasPortal: true,
  hasWalletPages: true,
  isLocal: true,
  firstOperator: { login: 'admin', password: 'tea-and-honey' },
}
const shown = (change: Partial<Running> = {}) => stripVTControlCharacters(welcome({ ...running, ...change }))

test('the welcome has every address, the password and the next command, line under line', () => {
  const text = shown()
  for (const wanted of [
    'http://localhost:8080',
    'http://localhost:8080/docs',
    'http://localhost:8080/sandbox',
    'http://localhost:8080/sandbox/playground',
    'http://localhost:8080/merchant',
    'http://localhost:8080/wallet',
    'http://localhost:8082',
    'http://localhost:8083',
    'http://localhost:8081',
    'admin',
    'tea-and-honey',
    'npx till trigger payment.order.success',
    'npm install http://localhost:8080/sdk/tillgate-sdk.tgz',
    'HOST=0.0.0.0 npm start',
  ])
    assert(
      text.split('\n').some((line) => /^ {2}\S.{25} {2}\S/.test(line) && line.slice(30) === wanted),
      wanted,
    )
})

test('what is not there is not named', () => {
  const live = shown({
    mode: 'live',
    isAccessGiven: false,
    shopUrl: undefined,
    railUrl: undefined,
    firstOperator: undefined,
  })
  assert.doesNotMatch(live, /sandbox|shop|Playground|Password|trigger/)
  assert.match(live, /npm install http:\/\/localhost:8080\/sdk/)
  assert.doesNotMatch(shown({ publicUrl: '' }), /npm install|localhost:8080/)
})

test('a first start on a terminal shows one block, without a log line in it', async (t) => {
  if (spawnSync('script', ['--version']).status !== 0) return t.skip('there is no program script here')
  const child = spawn('script', ['-qefc', `${process.execPath} ${startScript}`, '/dev/null'], {
    env: {
      ...process.env,
      DATA_DIR: temporaryFolder(),
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      SHOP_PORT: 'off',
    },
    // Its own group: the terminal's end reaches the gateway as a Ctrl-C would.
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  while (!output.includes('Ctrl-C')) await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
  const text = stripVTControlCharacters(output).replaceAll('\r', '')
  const [, block = ''] = /\n( {2}Tillgate [\s\S]*Ctrl-C)/.exec(text) ?? []
  assert.match(block, /Password, shown only once +\S+\n/)
  assert.equal(text.split('shown only once').length, 2)
  for (const line of block.split('\n')) assert.match(line, /^(| {2}\S.*)$/)
  child.stdin.write('\x03')
  await once(child, 'close')
})

test('the first start of a sandbox shows a password once, and in no log line', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const first = await startProcess(environment)
  const [, password = ''] = /Password, shown only once +(\S+)/.exec(first.output()) ?? []
  assert.equal((await new ConsoleClient(first).signIn('admin', password)).status, 303)
  const logged = first
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  assert.ok(logged.length > 0 && logged.every((line) => !line.includes(password)))
  first.child.kill('SIGTERM')
  await first.exited()
  const second = await startProcess(environment)
  assert.doesNotMatch(second.output(), /Password/)
  assert.equal((await new ConsoleClient(second).signIn('admin', password)).status, 303)
  second.child.kill('SIGTERM')
  await second.exited()
})
