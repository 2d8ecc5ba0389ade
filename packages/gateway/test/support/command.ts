// The operator's command line as an operator calls it, in this process: starting one of its own takes a second of
// processor time. Real processes of it are in rail-check.test.ts and in test/processes.
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type GatewayTerminal, runCommandLine } from '../../src/app/command-line.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { unknownNameWarnings } from '../../src/app/settings/unknown-names.ts'
import type { TestGateway } from './gateway.ts'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export async function runCommand(environment: Record<string, string>, args: string[]): Promise<Ended> {
  const { terminal, ended } = openTerminal(environment)
  try {
    await runCommandLine(args, terminal)
  } finally {
    terminal.out.end()
    terminal.err.end()
  }
  return ended
}

export function openTerminal(environment: Record<string, string>): {
  readonly terminal: GatewayTerminal
  readonly ended: Promise<Ended>
} {
  const [out, err] = [new PassThrough(), new PassThrough()]
  let code = 0
  const terminal: GatewayTerminal = {
    out,
    err,
    environment,
    ask: undefined,
    readSettings: () => readConfig(environment),
    unknownNames: () => unknownNameWarnings(environment, ''),
    watchInterrupt: () => new AbortController().signal,
    setExitCode(given) {
      code = given
    },
  }
  const ended = Promise.all([text(out), text(err)]).then(([outText, errText]) => ({
    code,
    out: outText,
    err: errText,
  }))
  return { terminal, ended }
}

/** The settings with which the command line works on a gateway's database. */
export function databaseOf({ config }: Pick<TestGateway, 'config'>): Record<string, string> {
  return {
    DATABASE_URL: config.databaseUrl ?? '',
    MASTER_KEY: config.masterKey?.toString('base64') ?? '',
  }
}
