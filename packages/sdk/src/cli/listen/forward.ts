// Forwards a callback to the developer's program as the gateway would: one POST without redirects, 15 seconds, and only
// the beginning of the response matters.
import { UsageError } from '../command.ts'

export type Forwarded =
  | {
      readonly kind: 'answered'
      readonly httpStatus: number
      readonly durationMs: number
      /** Its beginning, on one line. */
      readonly answer: string
    }
  | { readonly kind: 'unreachable'; readonly reason: string }

const timeoutMs = 15_000
const answerLength = 1_024

/** Accepts short forms such as `localhost:3000/callbacks` and `:3000`. */
export function parseForwardAddress(text: string): string {
  const withHost = text.startsWith(':') ? `localhost${text}` : text
  const address = /^https?:\/\//.test(withHost) ? withHost : `http://${withHost}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url?.hostname || url.username || url.password) {
    throw new UsageError(
      `--forward-to must be an address such as http://localhost:3000/callbacks, not ${text}.`,
    )
  }
  return url.href
}

export async function forward(envelope: string, url: string): Promise<Forwarded> {
  const startedAtMs = performance.now()
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: envelope,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer = await beginningOf(response)
    const durationMs = Math.round(performance.now() - startedAtMs)
    return { kind: 'answered', httpStatus: response.status, durationMs, answer }
  } catch (error) {
    return { kind: 'unreachable', reason: whyNot(error) }
  }
}

async function beginningOf({ body }: Response): Promise<string> {
  if (!body) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= answerLength) break
  }
  return [...text.replace(/\p{Cc}/gu, ' ')].slice(0, answerLength).join('')
}

function whyNot(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string } }
  if (name === 'TimeoutError') return `no response within ${timeoutMs / 1000} seconds`
  return cause?.code === 'ECONNREFUSED'
    ? 'nothing is listening there (ECONNREFUSED)'
    : (cause?.code ?? message)
}
