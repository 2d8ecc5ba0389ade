// Structured logs with an allowlist of fields: any other field, such as a body or a key passed by mistake, is
// dropped.
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
    // Synchronous, so that the last line before an exit is never lost. Unknown addresses cause few lines
    // (platform/http/answered.ts).
    stream ?? (pretty ? await prettyStream() : destination({ sync: true })),
  )
}

const warnLevel = 40
const leftToOtherLine = new WeakSet<Error>()

/** Another log line reports this error, so warnings that carry it are logged at level debug. */
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

/** The fields `detail` and `where` of a database error contain row values. */
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
