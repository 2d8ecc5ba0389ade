// till logs: your own rejected or slow requests, in the sandbox.
import type { SandboxRequestsAnswer } from '@tillgate/protocol'
import { type Command, credentialsOption, exitCodes, jsonOption, textOption, UsageError } from '../command.ts'
import { columns, type Terminal, timeText } from '../terminal.ts'

const shown = 20

export const logsCommand: Command = {
  name: 'logs',
  summary: 'show your rejected and slow requests of the last 7 days, or one by its requestId',
  positionals: ['[requestId]'],
  options: {
    count: { type: 'string', value: 'N', about: `maximum number, up to 100; default: ${shown}` },
    ...credentialsOption,
    ...jsonOption,
  },
  examples: ['till logs', 'till logs q3JvY2sgYW5kIHJv'],
  usesGateway: true,
  async run({ positionals: [requestId], values, terminal, client }) {
    const count = textOption(values, 'count') ?? String(shown)
    if (!/^[1-9]\d?$|^100$/.test(count)) throw new UsageError('--count must be a number from 1 to 100.')
    const wanted = { limit: Number(count), ...(requestId !== undefined && { requestId }) }
    const answer = await client().sandbox.requests(wanted)
    const { requests } = answer
    if (requests.length === 0) {
      const what = requestId === undefined ? 'No request of yours' : `No request ${requestId}`
      terminal.note(`${what} was rejected or slow in the last 7 days.`)
    }
    const lines =
      requestId === undefined ? requests.map((request) => line(request, terminal)) : requests.flatMap(details)
    terminal.print(answer, lines)
    return exitCodes.done
  },
}

type Logged = SandboxRequestsAnswer['requests'][number]

function line({ at, requestId, method, code, msg, durationMs }: Logged, { paint }: Terminal): string {
  const said = msg === '' ? `slow: ${durationMs} ms` : msg
  return [paint('dim', timeText(at) ?? ''), requestId, method, paint('bold', String(code)), said].join('  ')
}

function details({ at, durationMs, ...request }: Logged): string[] {
  const { requestId, method, httpStatus, code, field, msg } = request
  return columns([
    ['requestId', requestId],
    ['answered', timeText(at)],
    ['duration', `${durationMs} ms`],
    ['method', method],
    ['code', `${code} (HTTP ${httpStatus})`],
    ['field', field],
    ['message', msg],
  ])
}
