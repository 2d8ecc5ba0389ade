// Bills: a day's movements in your wallet, downloaded and verified against the gateway's hash.
import { createHash } from 'node:crypto'
import type { BillAnswer } from '@tillgate/protocol'
import { expectTexts } from './answers.ts'
import { type BillLine, readBillLines } from './bill-lines.ts'
import type { Caller } from './call.ts'
import {
  ConnectionError,
  TillgateError,
  TimeoutError,
  UnavailableError,
  UnexpectedAnswerError,
} from './errors.ts'
import type { CallOptions, Settings } from './options.ts'
import { retryDelayMs } from './retry-delay.ts'
import { serialise } from './serialise.ts'

/** A day's bill, whose bytes match the gateway's hash. */
export interface Bill extends BillAnswer {
  /** The complete file. */
  readonly csv: string
  /** Every payment, refund, fee, payout and correction, oldest first. */
  lines(): IterableIterator<BillLine>
}

export interface Bills {
  /**
   * The bill of one day in UTC, such as `2026-11-16`, available from 00:15 UTC of the next day. The file is downloaded
   * and its SHA-256 is verified. A bill never changes, so repeating the call is safe. `timeoutMs` includes the
   * download; by default, a download may take 15 minutes, because a bill of a million lines has several hundred
   * megabytes.
   *
   * @throws UnexpectedAnswerError when the file is not what its hash says.
   * @example
   * const bill = await tillgate.bills.get('2026-11-16')
   * for (const { kind, orderNo, currency, amount } of bill.lines()) book(kind, orderNo, currency, amount)
   */
  get(date: string, options?: CallOptions): Promise<Bill>
}

const downloadTimeoutMs = 15 * 60_000

export function makeBills({ call }: Caller, settings: Settings): Bills {
  return {
    async get(date, options = {}) {
      const endsAtMs = settings.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY)
      const data = await call('service.bill.get', () => serialise({ date }), options)
      const answer = expectTexts<BillAnswer>(data, ['date', 'sha256', 'downloadUrl'])
      const csv = await download(answer, settings, { ...options, endsAtMs })
      return { ...answer, csv, lines: () => readBillLines(csv) }
    },
  }
}

async function download(
  answer: BillAnswer,
  settings: Settings,
  options: CallOptions & { readonly endsAtMs: number },
): Promise<string> {
  const { maxRetries = settings.maxRetries, signal = new AbortController().signal, endsAtMs } = options
  for (let retries = 0; ; retries++) {
    try {
      return await downloadOnce(answer, settings, { signal, endsAtMs })
    } catch (error) {
      signal.throwIfAborted()
      const isWorthRepeating = error instanceof ConnectionError || error instanceof UnavailableError
      if (!isWorthRepeating || retries >= maxRetries) throw error
      const { retryAfterMs = 0 } = error as { retryAfterMs?: number | undefined }
      const delayMs = retryDelayMs({ retries, random: settings.random(), retryAfterMs })
      if (settings.now() + delayMs >= endsAtMs) throw error
      await settings.wait(delayMs, signal)
      signal.throwIfAborted()
    }
  }
}

async function downloadOnce(
  { date, downloadUrl, sha256 }: BillAnswer,
  { fetch, now }: Settings,
  { signal, endsAtMs }: { readonly signal: AbortSignal; readonly endsAtMs: number },
): Promise<string> {
  const limitMs = Math.ceil(Math.min(downloadTimeoutMs, endsAtMs - now()))
  if (limitMs <= 0) throw new TimeoutError('The call timed out.')
  const timeout = AbortSignal.timeout(limitMs)
  const { status, text, retryAfter } = await fetch(downloadUrl, {
    method: 'GET',
    headers: { accept: 'text/csv' },
    redirect: 'manual',
    signal: AbortSignal.any([signal, timeout]),
  })
    .then(async (response) => ({
      status: response.status,
      text: await response.text(),
      retryAfter: response.headers.get('retry-after'),
    }))
    .catch((cause: unknown) => {
      if (timeout.aborted)
        throw new TimeoutError(`The bill of ${date} was not downloaded within ${limitMs} ms.`, { cause })
      throw new ConnectionError(`The bill of ${date} could not be downloaded.`, { cause })
    })
  if (status === 503)
    throw new UnavailableError(`The gateway cannot send the bill of ${date} now.`, {
      httpStatus: status,
      retryAfterMs: Number(retryAfter ?? 0) * 1_000,
    })
  if (status !== 200)
    throw new TillgateError(`The bill of ${date} could not be downloaded: HTTP ${status}.`, {
      httpStatus: status,
    })
  if (createHash('sha256').update(text).digest('hex') !== sha256)
    throw new UnexpectedAnswerError(`The bill of ${date} does not match its SHA-256. Download it again.`, {
      httpStatus: status,
    })
  return text
}
