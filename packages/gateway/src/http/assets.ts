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

interface Asset {
  readonly path: string
  readonly type: string
  readonly content: Buffer
}

function readAsset(name: `${string}.${keyof typeof types}`): Asset {
  const content = readFileSync(join(import.meta.dirname, 'assets', name))
  const [stem, extension] = name.split('.') as [string, keyof typeof types]
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  return { path: `/assets/${stem}.${hash}.${extension}`, type: types[extension], content }
}

export const assets = {
  style: readAsset('tillgate.css'),
  icon: readAsset('icon.svg'),
}

export function serveAssets(listener: FastifyInstance): void {
  const serve = (path: string, { type, content }: Asset, cacheControl: string): void => {
    listener.get(path, (_request, reply) =>
      reply
        .header('content-type', type)
        .header('cache-control', cacheControl)
        .header('x-content-type-options', 'nosniff')
        .send(content),
    )
  }
  for (const asset of Object.values(assets)) serve(asset.path, asset, 'public, max-age=31536000, immutable')
  // What a browser asks for by itself where a page names no icon.
  serve('/favicon.ico', assets.icon, 'public, max-age=3600')
}
