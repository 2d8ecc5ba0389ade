// /healthz: the event loop is alive. /readyz: whether to send traffic here, and why not.
import type { FastifyInstance } from 'fastify'

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string }

/** The readiness check writes to the disk, so frequent probes share a result. */
export const readyForMs = 100

/** Runs one check at a time and reuses a recent success. */
export function askedSeldom(
  readiness: () => Promise<Readiness>,
  now: () => number = () => performance.now(),
): () => Promise<Readiness> {
  let asking: Promise<Readiness> | undefined
  let readyUntil = Number.NEGATIVE_INFINITY

  return async () => {
    if (now() < readyUntil) return { ready: true }
    asking ??= readiness().finally(() => {
      asking = undefined
    })
    const answer = await asking
    if (answer.ready) readyUntil = now() + readyForMs
    return answer
  }
}

export function answerHealth(
  listener: FastifyInstance,
  readiness: () => Promise<Readiness>,
  /** What is running, for authorized clients. */
  about: object = {},
): void {
  // A machine whose pages are flooded is not to be taken out of the load balancer for it.
  const always = { config: { rateLimit: false } } as const
  listener.get('/healthz', always, (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'alive' }),
  )

  listener.get('/readyz', always, async (_request, reply) => {
    const answer = await readiness()
    reply.header('cache-control', 'no-store')
    if (answer.ready) return { status: 'ready', ...about }
    return reply.status(503).header('retry-after', 1).send({ status: 'not ready', reason: answer.reason })
  })
}

export function isProbe(path: string): boolean {
  return path === '/healthz' || path === '/readyz'
}
