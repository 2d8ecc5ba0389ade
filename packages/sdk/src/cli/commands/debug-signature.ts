// till debug-signature: explains why a request or callback was rejected. If nothing is wrong with it here, the command
// asks the gateway whether it knows the same keys.
import { type Keyring, readCredentials } from '../../credentials.ts'
import { askGateway, type GatewayView } from '../../debug/ask-gateway.ts'
import { type Diagnosis, debugEnvelope } from '../../debug/debug-envelope.ts'
import { CredentialsError } from '../../errors.ts'
import { withDefaults } from '../../options.ts'
import {
  type Command,
  credentialsOption,
  exitCodes,
  jsonOption,
  type OptionValues,
  textOption,
  UsageError,
} from '../command.ts'
import { findCredentials } from '../find-credentials.ts'
import type { Terminal } from '../terminal.ts'

export const debugSignatureCommand: Command = {
  name: 'debug-signature',
  summary: 'find out why a request or callback cannot be opened',
  positionals: ['[FILE]'],
  options: {
    body: { type: 'string', value: 'FILE', about: 'the intended plain body' },
    'string-to-sign': { type: 'string', value: 'FILE', about: 'the string that your code signs or verifies' },
    at: {
      type: 'string',
      value: 'TIME',
      about: 'when the message was sent (ISO 8601 or milliseconds), to check the clock',
    },
    offline: { type: 'boolean', about: 'do not ask the gateway whether it knows these keys' },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till debug-signature request.json --body body.json', 'till debug-signature < callback.json'],
  usesGateway: false,
  async run({ positionals: [path = '-'], values, terminal }) {
    const body = readOption(values, 'body', terminal)
    const stringToSign = readOption(values, 'string-to-sign', terminal)
    const sentAtMs = readTime(textOption(values, 'at'))
    const credentials = findCredentials(values, terminal)
    const envelope = readInput(path, terminal)
    if (envelope.length === 0)
      throw new UsageError('The input is empty. Name the file of a request or callback as it was sent.')
    const diagnosis = debugEnvelope({
      envelope,
      credentials,
      nowMs: terminal.now(),
      ...(body !== undefined && { body }),
      ...(stringToSign !== undefined && { stringToSign }),
      ...(sentAtMs !== undefined && { sentAtMs }),
    })
    const mayAsk = diagnosis.findings.length === 0 && values['offline'] !== true
    const keys = mayAsk ? completeKeys(credentials) : undefined
    const view = keys && (await askGateway(keys, withDefaults(terminal.client)))
    const findings = view?.kind === 'asked' ? view.findings : diagnosis.findings
    const result = { ...diagnosis, findings, gateway: view?.kind ?? 'not asked' }
    terminal.print(result, describe(result, describeView(view, keys), terminal))
    return findings.length === 0 ? exitCodes.done : exitCodes.failed
  },
}

/** Undefined if a key is missing; the local checks do not need all keys. */
function completeKeys(credentials: Parameters<typeof readCredentials>[0]): Keyring | undefined {
  try {
    return readCredentials(credentials)
  } catch (error) {
    if (error instanceof CredentialsError) return undefined
    throw error
  }
}

function describeView(view: GatewayView | undefined, keys: Keyring | undefined): string {
  if (view?.kind === 'asked') return `${keys?.gatewayUrl.origin} also opens requests with these keys.`
  const why = view
    ? `${keys?.gatewayUrl.origin} could not be reached: ${view.reason}`
    : '--offline, or not all keys are given'
  return `The gateway was not checked (${why}).`
}

function describe({ kind, findings, stringToSign }: Diagnosis, view: string, { paint }: Terminal): string[] {
  if (findings.length === 0) {
    return [
      `${paint('green', '✓')} The ${kind} opens with these credentials: decrypted and verified.`,
      `  ${view}`,
      '',
      'If your code rejects it anyway, compare the string that your code verifies with this one',
      '(or use --string-to-sign FILE):',
      '',
      stringToSign ?? '',
    ]
  }
  return findings.flatMap(({ kind: name, problem, fix, evidence = [] }, index) => [
    ...(index > 0 ? [''] : []),
    `${paint('red', '✗')} ${paint('bold', problem)}  ${paint('dim', name)}`,
    ...evidence.map((line) => `    ${line}`),
    `  → ${fix}`,
  ])
}

function readInput(path: string, terminal: Terminal): Buffer {
  try {
    return terminal.readFile(path)
  } catch (error) {
    throw new UsageError(`Cannot read ${path}: ${(error as Error).message}`)
  }
}

function readOption(values: OptionValues, name: string, terminal: Terminal): string | undefined {
  const path = textOption(values, name)
  return path === undefined ? undefined : readInput(path, terminal).toString('utf8')
}

function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const timeMs = /^\d{13}$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isNaN(timeMs))
    throw new UsageError('--at must be a time such as 2026-01-31T12:00:00Z, or 13 digits.')
  return timeMs
}
