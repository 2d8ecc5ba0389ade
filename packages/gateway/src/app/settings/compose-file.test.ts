import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { test } from 'node:test'
import { readConfig } from './config.ts'

/** Without comments, with the variables' defaults inserted, inner ones first. */
const compose = readFileSync(new URL('../../../../../ops/compose.yaml', import.meta.url), 'utf8')
  .replace(/^\s*#.*\n/gm, '')
  .replace(/\$\{\w+:-([^${}]*)\}/g, '$1')
  .replace(/\$\{\w+:-([^${}]*)\}/g, '$1')

/** The lines indented below a name. */
function block(name: string, indentation: number, within = compose): string {
  const margin = ' '.repeat(indentation)
  const [, found] = new RegExp(`^${margin}${name}:.*\\n((?:${margin} +.*\\n|\\n)*)`, 'm').exec(within) ?? []
  assert(found !== undefined, `${name} is in the compose file`)
  return found
}

const gateway = block('gateway', 2)
const environment = Object.fromEntries(
  [...block('environment', 4, gateway).matchAll(/^ +(\w+): (.*)$/gm)].map(([, name, value]) => [name, value]),
)

test('the compose file trusts one proxy address: the machine’s own, in the gateway’s network', () => {
  const config = readConfig({
    ...environment,
    PUBLIC_URL: 'https://pay.example.com',
    OPERATOR_PASSWORD: 'a password for tests',
  })
  const [proxy = '', ...others] = config.trustedProxies
  assert.deepEqual(others, [])
  assert(isIPv4(proxy), `${proxy} is one address, and no range`)
  const front = block('front', 2, compose.slice(compose.indexOf('\nnetworks:')))
  assert.equal(/gateway: (\S+)/.exec(front)?.[1], proxy)
  assert.equal(/subnet: (\S+)/.exec(front)?.[1], proxy.replace(/\.1$/, '.0/29'))
  assert.match(gateway, /networks: \[front, back\]/)
  assert.match(block('database', 2), /networks: \[back\]/)
})

test('the compose file publishes its ports only on the machine itself', () => {
  assert.match(gateway, /ports: \['127\.0\.0\.1:8080:8080', '127\.0\.0\.1:8081:8081'\]/)
})
