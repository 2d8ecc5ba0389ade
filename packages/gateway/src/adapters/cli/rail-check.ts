// tillgate rail check: the conformance suite for any rail. It needs no database and no gateway.
import { randomBytes } from 'node:crypto'
import { digitsOf, Failure, isWebhookSecret, type NextAction, railAnswerTimeoutMs } from '@tillgate/protocol'
import { Command, Option } from 'commander'
import {
  type CheckResult,
  type ConformanceReport,
  checkConformance,
} from '../../finance/rails/conformance/check-conformance.ts'
import { postToRail } from '../../finance/rails/conformance/post-to-rail.ts'
import { systemClock } from '../../platform/runtime/clock.ts'
import { type OutputOptions, print, type Terminal } from './context.ts'

interface CheckOptions extends OutputOptions {
  readonly secret: string
  readonly currencies: string
  readonly wait: string
}

export function railCheckCommand(terminal: Terminal): Command {
  return new Command('check')
    .description('Check a rail against the protocol of docs/rails.md. Exit code 1 if a check fails')
    .argument(
      '<url>',
      'The rail’s URL, which receives the gateway’s messages. Use a rail that moves no real money.',
    )
    .addOption(new Option('--secret <whsec>', 'The rail’s secret.').env('RAIL_SECRET').makeOptionMandatory())
    .option(
      '--currencies <codes>',
      'Currencies to test: zero, two and three decimal places, if the rail supports them.',
      'JPY,EUR,TND',
    )
    .option('--wait <seconds>', 'Time to approve a payment, if the rail asks for approval.', '0')
    .option('--json', 'Print JSON')
    .action((url: string, options: CheckOptions) => checkRail(url, options, terminal))
}

export async function checkRail(url: string, options: CheckOptions, terminal: Terminal): Promise<void> {
  const { protocol } = URL.parse(url) ?? {}
  if (protocol !== 'https:' && protocol !== 'http:')
    refuse('The address must start with https:// or http://.')
  if (!isWebhookSecret(options.secret)) refuse('--secret must be whsec_ and the base64 of 24 to 64 bytes.')
  if (!/^[0-9]{1,4}$/.test(options.wait)) refuse('--wait must be a whole number of seconds, at most 9999.')
  const currencies = options.currencies.split(',')
  for (const currency of currencies) digitsOf(currency)
  const report = await checkConformance({
    currencies,
    post: postToRail(url),
    secret: options.secret,
    clock: systemClock,
    random: randomBytes,
    signal: terminal.watchInterrupt(),
    approvalWithinMs: Number(options.wait) * 1000,
    // On standard error, so that the report with --json stays JSON.
    askForApproval: ({ amount, currency, nextAction }) =>
      void terminal.err.write(
        `Approve ${amount} ${currency} within ${options.wait} s: ${describe(nextAction)}\n`,
      ),
  })
  print(terminal, options, { value: { url, ...report }, lines: reportLines(report) })
  if (report.results.some(({ outcome }) => outcome === 'failed')) terminal.setExitCode(1)
}

function refuse(message: string): never {
  throw new Failure('invalid_field', { message })
}

function describe(nextAction: NextAction): string {
  if (nextAction.kind === 'redirect') return nextAction.url
  if (nextAction.kind === 'qr') return nextAction.text
  return nextAction.lines.map(({ label, value }) => `${label} ${value}`).join(', ')
}

const marks = { passed: '✓', failed: '✗', skipped: '-' } as const

function reportLines({ results, slowestAnswerMs }: ConformanceReport): string[] {
  const count = (wanted: CheckResult['outcome']) => results.filter(({ outcome }) => outcome === wanted).length
  return [
    ...results.flatMap(({ title, protocol, outcome, found }) => [
      `${marks[outcome]} ${title}`,
      ...(outcome === 'failed' ? [`    found: ${found}`, `    expected: ${protocol}`] : []),
      ...(outcome === 'skipped' ? [`    not checked: ${found}`] : []),
    ]),
    '',
    `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} not checked. ` +
      `The slowest response took ${slowestAnswerMs} ms; the limit is ${railAnswerTimeoutMs} ms.`,
  ]
}
