// Adapters of the handler for each framework. No framework is imported; the parts of their requests and responses that
// are used are declared here.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { maxEnvelopeBytes } from '@tillgate/protocol'
import { type AnswerCallback, type CallbackAnswer, notAccepted, notPost, tooLarge } from './answer.ts'
import type { RawBody } from './unwrap.ts'

/** One handler with an adapter for each framework. It works with or without a body parser before it. */
export interface CallbackHandler {
  /**
   * For node:http.
   *
   * @example
   * createServer((request, response) => handler.node(request, response)).listen(3000)
   */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>
  /**
   * For Express 4 and 5, with or without `express.json()` or `express.raw()` before it.
   *
   * @example
   * app.post('/callbacks', handler.express)
   */
  express(request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void>
  /**
   * For Fastify 4 and 5.
   *
   * @example
   * fastify.post('/callbacks', handler.fastify)
   */
  fastify(request: { readonly body: unknown }, reply: FastifyReply): Promise<void>
  /**
   * For every runtime with the standard Request and Response: Hono, Next.js, Bun, Deno, workers with Node's crypto.
   *
   * @example
   * export const POST = handler.fetch
   */
  fetch(request: Request): Promise<Response>
  /** For everything else: pass the body, and send the result as application/json. */
  answer: AnswerCallback
}

export interface FastifyReply {
  code(status: number): FastifyReply
  type(contentType: string): FastifyReply
  send(payload: string): unknown
}

const contentType = 'application/json; charset=utf-8'

export function adapt(answer: AnswerCallback): CallbackHandler {
  const node: CallbackHandler['express'] = async (request, response) => {
    if (request.method !== 'POST') return send(response, notPost)
    const body = await bodyOf(request)
    switch (body.kind) {
      case 'read':
        return send(response, await answer(body.rawBody))
      case 'too_large':
        // The rest of the body is still arriving, so the connection cannot be reused.
        response.setHeader('connection', 'close')
        return send(response, tooLarge)
      case 'broken_off':
        response.destroy()
    }
  }
  return {
    answer,
    node,
    express: node,
    async fastify(request, reply) {
      const { body } = request
      const answered = isRawBody(body) ? await answer(body) : notAccepted
      await reply.code(answered.httpStatus).type(contentType).send(answered.body)
    },
    async fetch(request) {
      const answered = request.method === 'POST' ? await answerRequest(request) : notPost
      return new Response(answered.body, {
        status: answered.httpStatus,
        headers: { 'content-type': contentType },
      })
    },
  }

  async function answerRequest(request: Request): Promise<CallbackAnswer> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of request.body ?? []) {
      bytes += chunk.length
      if (bytes > maxEnvelopeBytes) return tooLarge
      chunks.push(chunk)
    }
    return answer(Buffer.concat(chunks))
  }
}

function send(response: ServerResponse, { httpStatus, body }: CallbackAnswer): void {
  response.writeHead(httpStatus, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

type ReadBody =
  | { readonly kind: 'read'; readonly rawBody: RawBody }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'broken_off' }

/** The result of a body parser, or the stream itself. */
async function bodyOf(request: IncomingMessage & { body?: unknown }): Promise<ReadBody> {
  // Some parsers set an empty object if they did not parse; the stream is unread then.
  const wasRead = request.readableEnded || request.readableDidRead
  if (isRawBody(request.body) && (wasRead || !isEmptyObject(request.body))) {
    return { kind: 'read', rawBody: request.body }
  }
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<
      Buffer | string
    >) {
      const buffer = Buffer.from(chunk as Buffer)
      bytes += buffer.length
      if (bytes > maxEnvelopeBytes) return { kind: 'too_large' }
      chunks.push(buffer)
    }
  } catch {
    return { kind: 'broken_off' }
  }
  return { kind: 'read', rawBody: Buffer.concat(chunks) }
}

function isRawBody(body: unknown): body is RawBody {
  return typeof body === 'string' || (typeof body === 'object' && body !== null)
}

function isEmptyObject(body: RawBody): boolean {
  return (
    typeof body === 'object' &&
    Object.getPrototypeOf(body) === Object.prototype &&
    Object.keys(body).length === 0
  )
}
