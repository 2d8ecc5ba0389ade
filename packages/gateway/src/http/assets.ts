// Style sheets and scripts, read once at the start and served under a name that holds a hash of what is in
// them: a browser keeps them for ever, and a new version has a new name.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'

const types = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
} as const

function asset(name: `${string}.${keyof typeof types}`) {
  const content = readFileSync(join(import.meta.dirname, 'assets', name))
  const [stem, extension] = name.split('.') as [string, keyof typeof types]
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  return { path: `/assets/${stem}.${hash}.${extension}`, type: types[extension], content }
}

export const assets = {
  style: asset('tillgate.css'),
  icon: asset('icon.svg'),
}

export function serveAssets(listener: FastifyInstance): void {
  for (const { path, type, content } of Object.values(assets)) {
    listener.get(path, (_request, reply) =>
      reply
        .header('content-type', type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('x-content-type-options', 'nosniff')
        .send(content),
    )
  }
}
