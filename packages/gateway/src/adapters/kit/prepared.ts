// Answers that are the same for everybody and were made ready beforehand: compressed once, and known by an entity
// tag, so that whoever has one already is told so in a line.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Prepared {
  readonly type: string
  readonly content: Buffer
  /** As small as it gets; absent where compressing gains nothing. */
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
  // The two forms are two entities: a cache must not answer for one with the tag of the other.
  const tag = `"${hash}${takesGzip ? '-gzip' : ''}"`
  reply.header('vary', 'accept-encoding').header('etag', tag).header('x-content-type-options', 'nosniff')
  if (isKnown(request.headers['if-none-match'], tag)) return reply.status(304).send()
  if (takesGzip) reply.header('content-encoding', 'gzip')
  return reply.header('content-type', type).send(takesGzip ? gzipped : content)
}

/** A proxy may have made the tag a weak one. */
function isKnown(given: string | undefined, tag: string): boolean {
  if (given === undefined) return false
  return given.split(',').some((each) => each.trim().replace(/^W\//, '') === tag)
}
