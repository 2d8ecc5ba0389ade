// The public listener's routes for rails: notifications and logos.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance } from 'fastify'
import type { HandleRailNotification } from '../../finance/rails/handle-notification.ts'
import type { RailDirectory } from '../../finance/rails/rail-directory.ts'

export interface RunningRails {
  readonly handleRailNotification: HandleRailNotification
  readonly railDirectory: Pick<RailDirectory, 'find'>
}

/** A notification contains one id, so a larger one is invalid. */
const maxNotificationBytes = 4 * 1024

/** `running` throws while the gateway is still starting. */
export function serveRails(listener: FastifyInstance, running: () => RunningRails): void {
  listener.register(async (scope) => {
    // As text, because the signature covers the exact bytes.
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: maxNotificationBytes },
      (_request, text, done) => done(null, text),
    )
    scope.post<{ Params: { railId: string } }>(
      '/rails/:railId/notifications',
      { bodyLimit: maxNotificationBytes },
      async ({ params, headers, body }, reply) => {
        const notification = { railId: params.railId, headers, body: typeof body === 'string' ? body : '' }
        switch (await running().handleRailNotification(notification)) {
          case 'heard':
            return reply.status(204).send()
          case 'refused':
            throw new Failure('envelope_not_opened', {
              message:
                'The notification is not signed with a secret of this rail, or its webhook-timestamp is more than 5 minutes off.',
            })
          case 'malformed':
            throw new Failure('invalid_field', {
              message: 'The body is not a valid notification. Check type and id.',
            })
        }
      },
    )
  })

  listener.get<{ Params: { railId: string } }>(logoPath(':railId'), async ({ params }, reply) => {
    const logo = (await running().railDirectory.find(params.railId))?.rail.logo
    if (logo === undefined) throw new Failure('no_such_operation', { message: 'No such path.' })
    return reply
      .header('content-type', 'image/svg+xml')
      .header('cache-control', 'public, max-age=60')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('x-content-type-options', 'nosniff')
      .send(logo)
  })
}

export function logoPath(railId: string): string {
  return `/rails/${railId}/logo.svg`
}
