// Prepared responses that are the same for all: compressed once, with an entity tag, so that a client with a current
// copy gets 304.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Prepared {
  readonly type: string
  readonly content: Buffer
  /** Undefined if compression saves nothing. */
  readonly gzipped: Buffer | undefined
  readonly hash: string
}

export function prepare(type: string, content: Buffer): Prepared {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  const isCompressed = ['image/png', 'application/gzip', 'font/woff2'].includes(type)
  return { type, content, gzipped: isCompressed ? undefined : gzipSync(content, { level: 9 }), hash }
}

export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, content, gzipped, hash }: Prepared,
): FastifyReply {
  const takesGzip = gzipped !== undefined && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  // The two forms are two entities, so they need different tags.
  const tag = `"${hash}${takesGzip ? '-gzip' : ''}"`
  reply.header('vary', 'accept-encoding').header('etag', tag).header('x-content-type-options', 'nosniff')
  if (isKnown(request.headers['if-none-match'], tag)) return reply.status(304).send()
  if (takesGzip) reply.header('content-encoding', 'gzip')
  return reply.header('content-type', type).send(takesGzip ? gzipped : content)
}

/** A proxy may have weakened the tag. */
function isKnown(given: string | undefined, tag: string): boolean {
  if (given === undefined) return false
  return given.split(',').some((each) => each.trim().replace(/^W\//, '') === tag)
}
