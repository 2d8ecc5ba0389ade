// Style sheets and scripts, read once at the start and served under a name that holds a hash of what is in
// them: a browser keeps them for ever, and a new version has a new name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type Prepared, prepare, sendPrepared } from './prepared.ts'

const types = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
} as const

export interface Asset extends Prepared {
  readonly path: string
}

type AssetName = `${string}.${keyof typeof types}`

/** Of one file or, where that would be a long one, of several, one after the other. */
function readAsset(name: AssetName, files: readonly AssetName[] = [name]): Asset {
  const [stem, extension] = name.split('.') as [string, keyof typeof types]
  const contents = files.map((file) => readFileSync(join(import.meta.dirname, 'assets', file)))
  const prepared = prepare(types[extension], Buffer.concat(contents))
  return { ...prepared, path: `/assets/${stem}.${prepared.hash}.${extension}` }
}

export const assets = {
  style: readAsset('tillgate.css'),
  icon: readAsset('icon.svg'),
  checkoutStyle: readAsset('checkout.css'),
  checkoutScript: readAsset('checkout.js'),
  walletStyle: readAsset('wallet.css'),
  sandboxStyle: readAsset('sandbox.css'),
  sandboxScript: readAsset('sandbox.js'),
  playgroundStyle: readAsset('playground.css'),
  playgroundScript: readAsset('playground.js'),
  consoleStyle: readAsset('console.css', [
    'console/frame.css',
    'fields.css',
    'console/forms.css',
    'status.css',
    'console/tables.css',
    'console/order.css',
    'console/overview.css',
    'console/phone.css',
    'console/people.css',
    'console/admin-api.css',
    'console/print.css',
  ]),
  consoleScript: readAsset('console.js'),
  portalStyle: readAsset('portal.css', ['status.css', 'fields.css', 'portal.css']),
  portalScript: readAsset('portal.js'),
  passkeyScript: readAsset('passkeys.js'),
  docsStyle: readAsset('docs.css'),
  docsScript: readAsset('docs.js'),
}

export function serveAssets(listener: FastifyInstance): void {
  const serve = (path: string, asset: Asset, cacheControl: string): void => {
    listener.get(path, (request, reply) =>
      sendPrepared(request, reply.header('cache-control', cacheControl), asset),
    )
  }
  for (const asset of Object.values(assets)) serve(asset.path, asset, 'public, max-age=31536000, immutable')
  // What a browser asks for by itself where a page names no icon.
  serve('/favicon.ico', assets.icon, 'public, max-age=3600')
}
