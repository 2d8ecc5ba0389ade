// The gateway's public keys, which verify callbacks and redirects.
import type { FastifyInstance } from 'fastify'
import type { PublishedKey } from '../../core/keys/platform-keys.ts'

export const platformKeysPath = '/platform-keys'

/** `keys` throws while the gateway is still starting. */
export function servePlatformKeys(
  listener: FastifyInstance,
  keys: () => Promise<readonly PublishedKey[]>,
): void {
  listener.get(platformKeysPath, async (_request, reply) => {
    const published = await keys()
    return reply
      .header('cache-control', 'public, max-age=60')
      .header('x-content-type-options', 'nosniff')
      .send({
        keys: published.map(({ keyId, publicKey, createdAtMs }) => ({
          keyId,
          publicKey,
          createdAt: createdAtMs,
        })),
      })
  })
}
