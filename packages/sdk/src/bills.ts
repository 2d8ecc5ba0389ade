// Bills: what moved in your wallet on one day, downloaded and checked against the hash that the gateway answered.
import { createHash } from 'node:crypto'
import type { BillAnswer } from '@tillgate/protocol'
import { expectTexts } from './answers.ts'
import { type BillLine, readBillLines } from './bill-lines.ts'
import type { Caller } from './call.ts'
import { ConnectionError, TillgateError, UnavailableError, UnexpectedAnswerError } from './errors.ts'
import type { CallOptions, Settings } from './options.ts'
import { retryDelayMs } from './retry-delay.ts'
import { serialise } from './serialise.ts'

/** A day's bill, whose bytes are what the gateway's hash says. */
export interface Bill extends BillAnswer {
  /** The file as it is, to keep or to send on. */
  readonly csv: string
  /** Every payment, refund, fee, payout and correction, the oldest first. */
  lines(): IterableIterator<BillLine>
}

export interface Bills {
  /**
   * The bill of one day in UTC, such as `2026-11-16`, from a quarter past midnight on. It is downloaded and its SHA-256
   * is checked. A bill never changes, so repeating it is safe.
   *
   * @throws UnexpectedAnswerError when the file is not what its hash says.
   * @example
   * const bill = await tillgate.bills.get('2026-11-16')
   * for (const { kind, orderNo, currency, amount } of bill.lines()) book(kind, orderNo, currency, amount)
   */
  get(date: string, options?: CallOptions): Promise<Bill>
}

/** A bill of a million lines has some hundred megabytes. */
const downloadTimeoutMs = 15 * 60_000

export function makeBills({ call }: Caller, settings: Settings): Bills {
  return {
    async get(date, options = {}) {
      const data = await call('service.trade.bill', () => serialise({ date }), options)
      const answer = expectTexts<BillAnswer>(data, ['date', 'sha256', 'downloadUrl'])
      const csv = await download(answer, settings, options)
      return { ...answer, csv, lines: () => readBillLines(csv) }
    },
  }
}

async function download(answer: BillAnswer, settings: Settings, options: CallOptions): Promise<string> {
  const { maxRetries = settings.maxRetries, signal = new AbortController().signal } = options
  for (let retries = 0; ; retries++) {
    try {
      return await downloadOnce(answer, settings, signal)
    } catch (error) {
      signal.throwIfAborted()
      const isWorthRepeating = error instanceof ConnectionError || error instanceof UnavailableError
      if (!isWorthRepeating || retries >= maxRetries) throw error
      const { retryAfterMs = 0 } = error as { retryAfterMs?: number | undefined }
      await settings.wait(retryDelayMs({ retries, random: settings.random(), retryAfterMs }), signal)
      signal.throwIfAborted()
    }
  }
}

async function downloadOnce(
  { date, downloadUrl, sha256 }: BillAnswer,
  { fetch }: Settings,
  signal: AbortSignal,
): Promise<string> {
  const { status, text, retryAfter } = await fetch(downloadUrl, {
    method: 'GET',
    headers: { accept: 'text/csv' },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(downloadTimeoutMs)]),
  })
    .then(async (response) => ({
      status: response.status,
      text: await response.text(),
      retryAfter: response.headers.get('retry-after'),
    }))
    .catch((cause: unknown) => {
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
    throw new UnexpectedAnswerError(`The bill of ${date} is not what its SHA-256 says. Download it again.`, {
      httpStatus: status,
    })
  return text
}
