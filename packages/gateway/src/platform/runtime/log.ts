// Structured logs. Only the fields listed here ever reach a log line: whatever else is handed over, a body or a
// key by mistake included, is left out.
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { codeOf } from './errors.ts'

export type Log = Logger

export interface LogConfig {
  readonly logLevel: string
  readonly logFormat: 'auto' | 'json' | 'pretty'
}

const allowedFields = new Set([
  'requestId',
  'verb',
  'method',
  'route',
  'httpStatus',
  'code',
  'field',
  'message',
  'durationMs',
  'merchantId',
  'paymentId',
  'refundId',
  'railId',
  'callbackId',
  'eventName',
  'host',
  'address',
  'worker',
  'tables',
  'count',
  'waitMs',
  'listener',
  'publicUrl',
  'adminUrl',
  'shopUrl',
  'railUrl',
  'version',
  'mode',
  'signal',
  'pid',
  'reason',
  'err',
])

/** For programs that print their own results. */
export const silentLog: Log = pino({ level: 'silent' })

export async function makeLog({ logLevel, logFormat }: LogConfig, stream?: DestinationStream): Promise<Log> {
  const pretty = logFormat === 'pretty' || (logFormat === 'auto' && process.stdout.isTTY)
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: keepAllowed },
      serializers: { err: describeError },
      hooks: {
        logMethod(args, method, level) {
          const isLeft = level === warnLevel && isLeftToOtherLine(args[0])
          if (!isLeft) method.apply(this, args)
          else if (this.isLevelEnabled('debug')) this.debug(...args)
        },
      },
    },
    // Written at once, so that the last line before an end is never lost; unknown addresses cause few lines (platform/http/answered.ts).
    stream ?? (pretty ? await prettyStream() : destination({ sync: true })),
  )
}

const warnLevel = 40
const leftToOtherLine = new WeakSet<Error>()

/** A line of its own tells of it: a warning that bears this error is written at the level debug. */
export function leaveToOtherLine(error: unknown): void {
  if (error instanceof Error) leftToOtherLine.add(error)
}

function isLeftToOtherLine(fields: unknown): boolean {
  for (
    let error = (fields as { err?: unknown } | undefined)?.err;
    error instanceof Error;
    error = error.cause
  )
    if (leftToOtherLine.has(error)) return true
  return false
}

function keepAllowed(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => allowedFields.has(name)))
}

/** A database error carries row values in `detail` and `where`; they stay out. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: 'something that is not an Error was thrown' }
  const { name, message, stack } = error
  const code = codeOf(error)
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined
  return { name, message, ...(code !== undefined && { code }), stack, ...(cause && { cause }) }
}

async function prettyStream(): Promise<DestinationStream> {
  const { PinoPretty } = await import('pino-pretty')
  return PinoPretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', sync: true })
}
