// Work that somebody asked for without being told what came of it: it begins when the answer has left, so that neither the
// words of the answer nor its time tell whose address was typed.
import type { FastifyReply, FastifyRequest } from 'fastify'

export function afterAnswer(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  work: () => Promise<unknown>,
  trouble: string,
): void {
  reply.raw.once('close', () => {
    work().catch((err: unknown) => request.log.error({ requestId: request.id, err }, trouble))
  })
}
