// Style sheets and scripts, read once at the start and served under a name that holds a hash of what is in
// them: a browser keeps them for ever, and a new version has a new name.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

const types = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
} as const

export interface Asset {
  readonly path: string
  readonly type: string
  readonly content: Buffer
  /** As small as it gets; made once. */
  readonly gzipped: Buffer
}

function readAsset(name: `${string}.${keyof typeof types}`): Asset {
  const content = readFileSync(join(import.meta.dirname, 'assets', name))
  const [stem, extension] = name.split('.') as [string, keyof typeof types]
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  return {
    path: `/assets/${stem}.${hash}.${extension}`,
    type: types[extension],
    content,
    gzipped: gzipSync(content, { level: 9 }),
  }
}

export const assets = {
  style: readAsset('tillgate.css'),
  icon: readAsset('icon.svg'),
  checkoutStyle: readAsset('checkout.css'),
  checkoutScript: readAsset('checkout.js'),
  sandboxStyle: readAsset('sandbox.css'),
  sandboxScript: readAsset('sandbox.js'),
  consoleStyle: readAsset('console.css'),
  consoleScript: readAsset('console.js'),
}

export function serveAssets(listener: FastifyInstance): void {
  const serve = (path: string, { type, content, gzipped }: Asset, cacheControl: string): void => {
    listener.get(path, (request, reply) => {
      const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
      if (takesGzip) reply.header('content-encoding', 'gzip')
      return reply
        .header('content-type', type)
        .header('cache-control', cacheControl)
        .header('vary', 'accept-encoding')
        .header('x-content-type-options', 'nosniff')
        .send(takesGzip ? gzipped : content)
    })
  }
  for (const asset of Object.values(assets)) serve(asset.path, asset, 'public, max-age=31536000, immutable')
  // What a browser asks for by itself where a page names no icon.
  serve('/favicon.ico', assets.icon, 'public, max-age=3600')
}
