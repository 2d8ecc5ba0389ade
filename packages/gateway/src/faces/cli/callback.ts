// tillgate callback …: what merchants were told and how that went, and sending it once more.
import { Failure, isEventName } from '@tillgate/protocol'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ManageCallbacks } from '../../callbacks/resend-callbacks.ts'
import type { CallbackState } from '../../callbacks/rules/callback-attempt.ts'
import type { CallbackFilter, StoredAttempt, StoredCallback } from '../../callbacks/store/callback-history.ts'
import { commandName, type OutputOptions, print, table, time, withContext } from './context.ts'
import { spanMs } from './durations.ts'

interface FilterOptions {
  readonly merchant?: string
  readonly payment?: string
  readonly host?: string
  readonly event?: CallbackFilter['eventName']
  readonly state?: CallbackState
  readonly since?: number
  readonly until?: number
}

interface ListOptions extends FilterOptions, OutputOptions {
  readonly before?: string
  readonly limit: number
}

interface ResendOptions extends FilterOptions, OutputOptions {
  readonly reason: string
  readonly rate: number
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function callbackCommand(): Command {
  const command = new Command('callback').description('look at callbacks and send them again')

  withFilters(command.command('list'))
    .description('callbacks, the newest first')
    .option('--before <callbackId>', 'go on after the last one of the page before', callbackId)
    .option('--limit <number>', 'how many', wholeNumber({ from: 1, to: 1_000 }), 50)
    .option('--json', 'print JSON')
    .action((options: ListOptions) =>
      withCallbacks(async (callbacks) => {
        const { limit, before } = options
        const page = await callbacks.listCallbacks(filterOf(options), { limit, before })
        const next = page.length === limit ? page.at(-1)?.callbackId : undefined
        print(options, { callbacks: page.map(withoutBody), next }, [
          ...(page.length === 0 ? ['No callbacks.'] : listing(page)),
          ...(next === undefined ? [] : ['', `More: --before ${next}`]),
        ])
      }),
    )

  command
    .command('show')
    .description('a callback, what it says, and every attempt to deliver it')
    .argument('<callbackId>', 'its id', callbackId)
    .option('--json', 'print JSON')
    .action((id: string, options: OutputOptions) =>
      withCallbacks(async (callbacks) => {
        const { callback, attempts } = await callbacks.showCallback(id)
        const shown = attempts.map(({ answer, ...rest }) => ({ ...rest, answer: readable(answer) }))
        print(options, { ...callback, attempts: shown }, describe(callback, attempts))
      }),
    )

  withFilters(command.command('resend'))
    .description('send one callback again, or all that fit; the retries that are planned stay as they are')
    .argument('[callbackId]', 'one callback; left out, a filter says which', callbackId)
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--rate <number>', 'how many a second', wholeNumber({ from: 1, to: 1_000 }), 20)
    .option('--json', 'print JSON')
    .action((id: string | undefined, options: ResendOptions) =>
      withCallbacks(async (callbacks) => {
        if (id !== undefined) {
          await callbacks.resendOne(id, options.reason)
          print(options, { callbackId: id, queued: 1 }, [`Callback ${id} is sent again.`])
          return
        }
        const filter = filterOf(options)
        if (Object.values(filter).every((value) => value === undefined)) {
          throw new Failure('invalid_field', {
            message: 'Say which: a callbackId, or a filter such as --state exhausted.',
          })
        }
        const { rate: perSecond, reason } = options
        const sent = await callbacks.resendMatching(filter, { perSecond, reason })
        print(options, sent, [
          `${sent.queued} of ${sent.found} callbacks are sent again, ${perSecond} a second; the last at ${time(sent.lastDueAtMs)}.`,
          ...(sent.queued < sent.found ? ['The others are about to be sent already, or too old.'] : []),
        ])
      }),
    )

  return command
}

function withCallbacks(work: (callbacks: ManageCallbacks) => Promise<void>): Promise<void> {
  return withContext(({ acts }) => work(acts.callbacks))
}

function withFilters(command: Command): Command {
  return command
    .option('--merchant <merchantId>', 'of this merchant')
    .option('--payment <paymentId>', 'of this order')
    .option('--host <host>', 'to this host')
    .option('--event <name>', 'of this event', eventName)
    .addOption(new Option('--state <state>', 'in this state').choices(['waiting', 'delivered', 'exhausted']))
    .option('--since <time>', 'made at or after it: a date, a time, or how long ago (90m, 12h, 7d)', moment)
    .option('--until <time>', 'made before it', moment)
}

function filterOf(options: FilterOptions): CallbackFilter {
  return {
    merchantId: options.merchant,
    paymentId: options.payment,
    host: options.host,
    eventName: options.event,
    state: options.state,
    sinceMs: options.since,
    untilMs: options.until,
  }
}

function listing(page: readonly StoredCallback[]): string[] {
  return table(
    ['callback', 'made', 'event', 'merchant', 'host', 'state', 'attempts', 'last', 'next'],
    page.map((callback) => [
      callback.callbackId,
      time(callback.createdAtMs),
      callback.eventName,
      callback.merchantId,
      callback.host,
      stateOf(callback),
      String(callback.attemptsMade),
      lastOf(callback),
      callback.nextAttemptAtMs === undefined ? '' : time(callback.nextAttemptAtMs),
    ]),
  )
}

function describe(callback: StoredCallback, attempts: readonly StoredAttempt[]): string[] {
  return [
    `callback   ${callback.callbackId}`,
    `event      ${callback.eventName}`,
    `merchant   ${callback.merchantId}`,
    `order      ${callback.paymentId}${callback.refundId === undefined ? '' : `, refund ${callback.refundId}`}`,
    `to         ${callback.callbackUrl}`,
    `made       ${time(callback.createdAtMs)}`,
    `state      ${stateOf(callback)}`,
    ...(callback.heldReason === undefined ? [] : [`held       ${callback.heldReason}`]),
    ...(callback.nextAttemptAtMs === undefined ? [] : [`next       ${time(callback.nextAttemptAtMs)}`]),
    '',
    callback.body ?? 'What it said is no longer kept.',
    '',
    ...(attempts.length === 0
      ? ['No attempt is on record.']
      : table(
          ['attempt', 'at', 'took', 'outcome', 'answer'],
          attempts.map((attempt) => [
            `${attempt.attempt}${attempt.isResend ? ' (resend)' : ''}`,
            time(attempt.startedAtMs),
            `${attempt.durationMs} ms`,
            attempt.httpStatus === undefined ? attempt.outcome : `HTTP ${attempt.httpStatus}`,
            (attempt.detail ?? readable(attempt.answer) ?? '').slice(0, 100),
          ]),
        )),
    ...(callback.state === 'delivered'
      ? []
      : ['', `Send it again: ${commandName} callback resend ${callback.callbackId} --reason TEXT`]),
  ]
}

function stateOf({ state, isWarned }: StoredCallback): string {
  return state === 'delivered' && isWarned ? 'delivered (answer was not {"code":20000})' : state
}

function lastOf({ lastHttpStatus, lastOutcome }: StoredCallback): string {
  return lastHttpStatus === undefined ? (lastOutcome ?? '') : `HTTP ${lastHttpStatus}`
}

function withoutBody({ body: _body, ...rest }: StoredCallback): Omit<StoredCallback, 'body'> {
  return rest
}

/** A stranger wrote it: nothing in it may move the cursor or colour the terminal. */
function readable(answer: Buffer | undefined): string | undefined {
  return answer?.toString().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

function callbackId(text: string): string {
  if (!uuidPattern.test(text)) throw new InvalidArgumentError('It must be the id of a callback.')
  return text
}

function eventName(text: string): CallbackFilter['eventName'] {
  if (!isEventName(text)) throw new InvalidArgumentError('There is no such event.')
  return text
}

function moment(text: string): number {
  const span = spanMs(text)
  if (span !== undefined) return Date.now() - span
  const parsed = Date.parse(text)
  if (Number.isNaN(parsed))
    throw new InvalidArgumentError('It must be like 2026-11-15, 2026-11-15T08:00Z or 12h.')
  return parsed
}

function wholeNumber({ from, to }: { from: number; to: number }): (text: string) => number {
  return (text) => {
    const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= from && number <= to)) {
      throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`)
    }
    return number
  }
}
