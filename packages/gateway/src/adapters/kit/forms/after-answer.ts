// Work that starts after the response has been sent, so that neither its content nor its duration reveals whether an
// address is known.
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
