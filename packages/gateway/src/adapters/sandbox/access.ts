// "Get sandbox access" over HTTP: rate limits and responses. The page works without a script, with a pasted public key;
// with a script, the key pair is created in the browser and its private half stays there.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { SandboxAccess } from '../../sandbox/sandbox-access.ts'
import { assets } from '../kit/assets.ts'
import { html } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import { acceptForms, isFromElsewhere, readForm } from '../kit/requests.ts'
import { accessForm, accessGiven, accessRefused } from './pages.ts'
import { sandboxAccessPath } from './paths.ts'

export interface SandboxAccessPageParts {
  /** Throws while the gateway is still starting. */
  readonly access: () => SandboxAccess
  readonly publicUrl: () => string
  readonly hasPortal: boolean
  readonly newNonce: () => string
  readonly clock: Clock
}

/** An 8192-bit key as PEM has 1,400 characters, so a larger form is not ours. */
const maxFormBytes = 16 * 1024
/** Per address: five at once, then one every twelve minutes. */
const rate = { perSecond: 5 / 3_600, burst: 5 } as const

export function serveSandboxAccess(listener: FastifyInstance, parts: SandboxAccessPageParts): void {
  const { publicUrl, hasPortal, newNonce, clock } = parts
  const addresses = new RateLimiter({ rate, clock })

  const page = (title: string, content: ReturnType<typeof accessForm>) => {
    const nonce = newNonce()
    return {
      title,
      content,
      nonce,
      styles: [assets.sandboxStyle],
      head: html`<script nonce="${nonce}" src="${assets.sandboxScript.path}" defer></script>`,
    }
  }

  listener.get(sandboxAccessPath, (_request, reply) =>
    sendPage(
      reply,
      page('Get sandbox access', accessForm({ name: '', publicKey: '', email: '' }, { hasPortal })),
    ),
  )

  listener.register(async (scope) => {
    acceptForms(scope, { bodyLimit: maxFormBytes })
    scope.post(sandboxAccessPath, { bodyLimit: maxFormBytes }, async (request, reply) => {
      if (isFromElsewhere(request, originsOf(request, publicUrl()))) {
        reply.status(403)
        return sendPage(reply, page('Not sent', accessRefused('This form was not sent from this page.')))
      }
      const form = readForm(request.body)
      const asked = {
        name: form.get('name') ?? '',
        publicKey: form.get('publicKey') ?? '',
        email: hasPortal ? (form.get('email') ?? '').trim() : '',
      }
      const address = addressKey(request.ip)
      // Counted before access is granted, so that simultaneous requests get no more than sequential ones.
      const waitMs = addresses.take(address)
      if (waitMs > 0) {
        reply.status(429).header('retry-after', Math.ceil(waitMs / 1_000))
        const minutes = Math.ceil(waitMs / 60_000)
        const words = `You have got access several times just now. Try again in ${minutes} minutes.`
        return sendPage(reply, page('Too many', accessRefused(words)))
      }
      const access = await parts.access()(asked)
      switch (access.kind) {
        case 'refused':
          addresses.giveBack(address)
          reply.status(400)
          return sendPage(
            reply,
            page('Get sandbox access', accessForm(asked, { hasPortal, problem: access.problem })),
          )
        case 'too_many': {
          addresses.giveBack(address)
          reply.status(429).header('retry-after', 3_600)
          const words = 'Very many people got access today, so there is none for now. Try again tomorrow.'
          return sendPage(reply, page('Too many', accessRefused(words)))
        }
        case 'given':
          return sendPage(
            reply,
            page('Your sandbox access', accessGiven({ ...access, gatewayUrl: publicUrl() })),
          )
      }
    })
  })
}

function originsOf(request: FastifyRequest, publicUrl: string): string[] {
  return [new URL(publicUrl).origin, `${request.protocol}://${request.host}`]
}
