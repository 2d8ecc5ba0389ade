// Logos of merchants: uploaded pictures, served only as the type that their bytes show.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'

/** Addressed by content, so that browsers can cache it permanently. */
export function logoPath(merchantId: string, hash: string): string {
  return `/logos/${merchantId}/${hash}`
}

interface Picture {
  readonly image: Buffer
  readonly type: string
  readonly hash: string
}

/** `find` throws while the gateway is still starting. */
export function serveLogos(
  listener: FastifyInstance,
  find: (merchantId: string) => Promise<Picture | undefined>,
): void {
  listener.get<{ Params: { merchantId: string; hash: string } }>(
    logoPath(':merchantId', ':hash'),
    async ({ params }, reply) => {
      const logo = await find(params.merchantId)
      if (logo?.hash !== params.hash) throw new Failure('no_such_operation', { message: 'No such path.' })
      return reply
        .header('content-type', logo.type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('content-disposition', 'inline')
        .header('cross-origin-resource-policy', 'same-origin')
        .header('x-content-type-options', 'nosniff')
        .send(logo.image)
    },
  )
}
