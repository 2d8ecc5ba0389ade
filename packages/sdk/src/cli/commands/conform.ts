// till conform: checks any implementation of the interface over HTTP, clause by clause.
import { successCode } from '@tillgate/protocol'
import { clauseNumbers } from '../../conform/clauses.ts'
import { codeOf, type Gateway, makeGateway } from '../../conform/gateway.ts'
import { commandHooks, manualHooks, sandboxHooks } from '../../conform/hooks.ts'
import { type Receiver, startReceiver } from '../../conform/receiver.ts'
import { junitOf } from '../../conform/report.ts'
import { belongsTo, type Result, runSuite } from '../../conform/suite.ts'
import { create, createBody, makeWorld } from '../../conform/world.ts'
import { readCredentials } from '../../credentials.ts'
import { withDefaults } from '../../options.ts'
import { type Command, credentialsOption, exitCodes, jsonOption, textOption, UsageError } from '../command.ts'
import { parseDuration } from '../duration.ts'
import { withCredentials } from '../find-credentials.ts'
import type { Terminal } from '../terminal.ts'

/** A fixed port, because gateways may limit the number of callback hosts of a merchant. */
const defaultAddress = '127.0.0.1:8484'

export const conformCommand: Command = {
  name: 'conform',
  summary: 'check a gateway against the interface, clause by clause',
  positionals: [],
  options: {
    gateway: { type: 'string', value: 'URL', about: 'the gateway’s URL; default: from the credentials' },
    clause: { type: 'string', value: 'CLAUSE', about: 'a clause such as 2.3, or a section such as 2' },
    pay: {
      type: 'string',
      value: 'HOW',
      about: 'sandbox (service.sandbox.pay; the default), or manual: you pay at the printed addresses',
      choices: ['sandbox', 'manual'],
    },
    'pay-command': {
      type: 'string',
      value: 'COMMAND',
      about:
        'shell command that pays; reads PAYMENT_ID, CHECKOUT_URL and OUTCOME (success, failed, refund_fails)',
    },
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      about: `where to receive callbacks; default: ${defaultAddress}`,
    },
    'callback-url': {
      type: 'string',
      value: 'URL',
      about: 'the URL at which the gateway reaches the listener, if different',
    },
    'callback-timeout': {
      type: 'string',
      value: 'DURATION',
      about: 'how long to wait for a callback; default: 20s',
    },
    'retry-timeout': {
      type: 'string',
      value: 'DURATION',
      about:
        'how long to wait for the very first callback of the run, and for the first retry of a callback; default: 2m',
    },
    'wait-for-expiry': {
      type: 'boolean',
      about: 'wait five minutes for an expiry if the sandbox cannot advance time',
    },
    junit: { type: 'string', value: 'FILE', about: 'write a JUnit report' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: [
    'till conform',
    'till conform --gateway https://pay.example --credentials merchant.json --clause 2.3',
    'till conform --pay manual --callback-timeout 5m --junit report.xml',
  ],
  usesGateway: true,
  async run({ values, terminal }) {
    const clause = textOption(values, 'clause')
    if (clause !== undefined && !clauseNumbers.some((each) => belongsTo(each, clause)))
      throw new UsageError(`There is no clause ${clause}. The clauses are ${clauseNumbers.join(', ')}.`)
    const gatewayUrl = textOption(values, 'gateway')
    if (gatewayUrl !== undefined && !/^https?:$/.test(URL.parse(gatewayUrl)?.protocol ?? ''))
      throw new UsageError('--gateway must be an address such as https://pay.example.com.')
    const keys = withCredentials(values, terminal, (found) =>
      readCredentials({ ...found, ...(gatewayUrl !== undefined && { gatewayUrl }) }),
    )
    const { fetch, now } = withDefaults(terminal.client)
    const gateway = makeGateway(keys, { fetch, now })
    await gateway.reach()
    const receiver = await startReceiver({
      ...listenAt(textOption(values, 'listen') ?? defaultAddress),
      publicUrl: textOption(values, 'callback-url'),
    })
    try {
      terminal.note(
        `Callbacks are received at ${receiver.base}; the gateway must be able to reach this address.`,
      )
      await expectReachableHost(gateway, receiver)
      const payCommand = textOption(values, 'pay-command')
      const duration = (name: string, otherwise: string) =>
        parseDuration(textOption(values, name) ?? otherwise)
      const world = makeWorld({
        gateway,
        receiver,
        note: terminal.note,
        hooks:
          payCommand !== undefined
            ? commandHooks(payCommand)
            : textOption(values, 'pay') === 'manual'
              ? manualHooks((line) => terminal.error(`${line}\n`))
              : sandboxHooks(gateway),
        callbackTimeoutMs: duration('callback-timeout', '20s'),
        retryTimeoutMs: duration('retry-timeout', '2m'),
        waitsForExpiry: values['wait-for-expiry'] === true,
      })
      const results = await runSuite(world, {
        clause,
        onResult: (result) => {
          if (!terminal.json) terminal.out(`${line(result, terminal)}\n`)
        },
      })
      return report(results, textOption(values, 'junit'), terminal)
    } finally {
      await receiver.close()
    }
  },
}

/** A gateway that does not take the listener's address would fail every clause for one and the same reason. */
async function expectReachableHost(gateway: Gateway, receiver: Receiver): Promise<void> {
  const send = async (callbackUrl?: string) => {
    const { json } = await gateway.send(create, createBody(gateway.now(), callbackUrl))
    return json && codeOf(json) === successCode ? undefined : String(json?.['msg'] ?? '')
  }
  const refusal = await send(receiver.urlFor('reachable')).catch(() => undefined)
  if (refusal === undefined || (await send()) !== undefined) return
  throw new UsageError(
    `The gateway does not accept callbacks at ${receiver.base}: ${refusal}\nUse --listen or --callback-url with an address that it accepts, such as a host that this merchant has used today.`,
  )
}

function listenAt(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host === '') throw new UsageError('--listen must be an address such as 0.0.0.0:8090.')
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

const marks = {
  pass: ['pass', 'green'],
  fail: ['FAIL', 'red'],
  'not testable': ['not testable', 'dim'],
} as const

function line({ clause, title, outcome, detail }: Result, { paint }: Terminal): string {
  const [mark, color] = marks[outcome]
  return `${clause.padEnd(5)} ${paint(color, mark.padEnd(13))}${title}${detail === undefined ? '' : `: ${detail}`}`
}

function report(results: readonly Result[], junitFile: string | undefined, terminal: Terminal): number {
  const count = (outcome: Result['outcome']) => results.filter((each) => each.outcome === outcome).length
  const [passed, failed, untestable] = [count('pass'), count('fail'), count('not testable')]
  if (junitFile !== undefined) terminal.writeFile(junitFile, junitOf(results), { mode: 0o644, force: true })
  terminal.print({ passed, failed, notTestable: untestable, results }, [
    '',
    `${passed} passed, ${failed} failed, ${untestable} not testable from outside`,
  ])
  return failed > 0 ? exitCodes.failed : exitCodes.done
}
