// till listen: delivers callbacks to a developer's machine over an outgoing connection. Progress is stored after each
// callback, so that a killed process resumes with the next one.
import { setTimeout as pause } from 'node:timers/promises'
import { eventNames, type ListenedCallback, type SandboxListenAnswer } from '@tillgate/protocol'
import type { CallbackEvent } from '../../callbacks/event.ts'
import {
  CallbackVerificationError,
  ConnectionError,
  InvalidRequestError,
  RateLimitError,
  TillgateError,
  UnavailableError,
} from '../../errors.ts'
import type { Tillgate } from '../../tillgate.ts'
import { type Command, credentialsOption, exitCodes, textOption, UsageError } from '../command.ts'
import { type Forwarded, forward, parseForwardAddress } from '../listen/forward.ts'
import { type ListenState, readListenState, statePath, writeListenState } from '../listen/state.ts'
import { amountText, type Terminal } from '../terminal.ts'

/** Below the SDK's time limit for one attempt. */
const waitMs = 8_000
const againMs = { first: 1_000, most: 10_000 } as const

export const listenCommand: Command = {
  name: 'listen',
  summary: 'receive callbacks on this machine and forward them to your program',
  positionals: [],
  options: {
    'forward-to': {
      type: 'string',
      value: 'URL',
      about: 'your program’s callback URL; without it, callbacks are only shown',
    },
    count: { type: 'string', value: 'N', about: 'stop after this many callbacks' },
    'from-now': { type: 'boolean', about: 'skip callbacks created before the start' },
    state: {
      type: 'string',
      value: 'FILE',
      about: 'the file that stores your position; default: in your home folder',
    },
    ...credentialsOption,
    json: { type: 'boolean', about: 'print one line of JSON for every callback' },
  },
  examples: ['till listen --forward-to http://localhost:3000/callbacks'],
  usesGateway: true,
  async run({ values, terminal, client }) {
    const to = textOption(values, 'forward-to')
    const forwardTo = to === undefined ? undefined : parseForwardAddress(to)
    const most = parseCount(textOption(values, 'count'))
    const tillgate = client()
    const path = textOption(values, 'state') ?? statePath(tillgate, terminal)
    const keep = (state: ListenState): ListenState => {
      writeListenState(path, state, terminal)
      return state
    }
    const begin = async () =>
      keep({ after: (await asking(terminal, () => tillgate.sandbox.listen({}))).after, handled: [] })
    const known = values['from-now'] ? undefined : readListenState(path, terminal)
    let state = known ?? (await begin())
    terminal.note(
      `Listening for callbacks of merchant ${tillgate.merchantId}${forwardTo ? `, forwarding to ${forwardTo}` : ''}. Press Ctrl-C to stop.`,
    )
    for (let taken = 0; ; ) {
      const { after } = state
      const answer = await listenAfter(after, { tillgate, terminal })
      if (!answer) {
        terminal.note('The stored position does not belong to this gateway. Listening from now on.')
        state = await begin()
        continue
      }
      for (const callback of answer.callbacks) {
        const key = keyOf(callback)
        if (state.handled.includes(key)) continue
        await take(callback, { tillgate, terminal, forwardTo })
        state = keep({ after, handled: [...state.handled, key] })
        if (++taken === most) return exitCodes.done
      }
      state = keep({ after: answer.after, handled: [] })
    }
  },
}

/** Undefined if the gateway does not accept the cursor. */
async function listenAfter(
  after: string,
  { tillgate, terminal }: Omit<Taking, 'forwardTo'>,
): Promise<SandboxListenAnswer | undefined> {
  try {
    return await asking(terminal, () => tillgate.sandbox.listen({ after, waitMs }))
  } catch (error) {
    if (error instanceof InvalidRequestError && error.field === 'after') return undefined
    throw error
  }
}

interface Taking {
  readonly tillgate: Tillgate
  readonly terminal: Terminal
  readonly forwardTo: string | undefined
}

async function take(callback: ListenedCallback, { tillgate, terminal, forwardTo }: Taking): Promise<void> {
  const event = await open(callback, tillgate, terminal)
  const forwarded = forwardTo === undefined ? undefined : await forward(callback.envelope, forwardTo)
  if (event && forwardTo !== undefined && forwarded?.kind === 'answered' && forwarded.httpStatus === 200) {
    const { durationMs, answer } = forwarded
    await asking(terminal, () =>
      tillgate.sandbox.acknowledge({
        callbackId: event.id,
        forwardedTo: forwardTo.slice(0, 256),
        durationMs,
        answer,
      }),
    )
  }
  print({ callback, event, forwarded }, terminal)
}

/** A callback that these credentials cannot open is forwarded too, so that the program reports the same error. */
async function open(
  { envelope }: ListenedCallback,
  { callbacks }: Tillgate,
  terminal: Terminal,
): Promise<CallbackEvent | undefined> {
  try {
    return await callbacks.unwrap(envelope)
  } catch (error) {
    if (!(error instanceof CallbackVerificationError)) throw error
    terminal.error(`${error.message}\n`)
    return undefined
  }
}

interface Received {
  readonly callback: ListenedCallback
  readonly event: CallbackEvent | undefined
  readonly forwarded: Forwarded | undefined
}

function print({ callback, event, forwarded }: Received, terminal: Terminal): void {
  const { kind, at, paymentId } = callback
  const { id, eventName, result } = event ?? {}
  const orderNo = result && 'referOrderNo' in result ? result.referOrderNo : undefined
  if (terminal.json) {
    const { answer: _answer, ...said } = { answer: '', ...forwarded }
    const shown = forwarded === undefined ? {} : { forwarded: said }
    terminal.out(`${JSON.stringify({ id, eventName, kind, at, paymentId, orderNo, result, ...shown })}\n`)
    return
  }
  // Parts of fixed length come first, so that lines align.
  const parts = [
    terminal.paint('dim', new Date(at).toLocaleTimeString('sv-SE')),
    terminal.paint('bold', (eventName ?? 'cannot be opened').padEnd(eventWidth)),
    amountOf(event).padStart(amountWidth),
    paymentId,
    ...(forwarded === undefined ? [] : [outcomeOf(forwarded, paymentId, terminal)]),
    ...(orderNo === undefined ? [] : [`order ${orderNo}`]),
    ...(event?.kind === 'refund' ? [`refund ${event.result.referRefundNo}`] : []),
    ...(kind === 'resend' ? ['(sent again)'] : []),
    ...(id === undefined ? [] : [terminal.paint('dim', id)]),
  ]
  terminal.out(`${parts.join('  ')}\n`)
}

const eventWidth = Math.max(...eventNames.map((name) => name.length))
const amountWidth = 16

function amountOf(event: CallbackEvent | undefined): string {
  if (event?.kind === 'order') return amountText(event.result.paymentAmount, event.result.currency)
  if (event?.kind === 'refund') return amountText(event.result.refundAmount, event.result.currency)
  return ''
}

function outcomeOf(forwarded: Forwarded, paymentId: string, { paint }: Terminal): string {
  const again = `; when fixed: till resend ${paymentId}`
  if (forwarded.kind === 'unreachable') return `${paint('red', `→ ${forwarded.reason}`)}${again}`
  const { httpStatus, durationMs } = forwarded
  const isGood = httpStatus === 200
  const colour = isGood ? 'green' : 'red'
  return `${paint(colour, `→ HTTP ${httpStatus}`)} in ${`${durationMs}`.padStart(4)} ms${isGood ? '' : again}`
}

/** Retries while the gateway is unavailable or busy; any other error ends the command. */
async function asking<T>(terminal: Terminal, ask: () => Promise<T>): Promise<T> {
  for (let againInMs: number = againMs.first; ; againInMs = Math.min(againMs.most, 2 * againInMs)) {
    try {
      return await ask()
    } catch (error) {
      const isPassing =
        error instanceof ConnectionError ||
        error instanceof UnavailableError ||
        error instanceof RateLimitError
      if (!isPassing) throw explained(error)
      terminal.note(`${error.message} Retrying.`)
      await pause(againInMs)
    }
  }
}

function explained(error: unknown): unknown {
  if (!(error instanceof TillgateError) || error.code !== 40401) return error
  return new UsageError(
    'This gateway is live or does not support listen. Only a sandbox delivers callbacks this way.',
  )
}

function keyOf({ envelope, kind, at }: ListenedCallback): string {
  const { id } = JSON.parse(envelope) as { id: string }
  return `${id} ${kind} ${at}`
}

function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError('--count must be a whole number of at least 1.')
  return Number(text)
}
