// Style sheets and scripts, loaded at the start and served under a name with a hash of their content: browsers cache
// them permanently, and a new version has a new name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type Prepared, prepare, sendPrepared } from './prepared.ts'

const types = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
  woff2: 'font/woff2',
} as const

export interface Asset extends Prepared {
  readonly path: string
}

type AssetName = `${string}.${keyof typeof types}`

/** The content of one file, or of several joined. */
function readAsset(name: AssetName, files: readonly AssetName[] = [name]): Asset {
  return makeAsset(
    name,
    files.map((file) => readFileSync(join(import.meta.dirname, 'assets', file))),
  )
}

function makeAsset(name: AssetName, contents: readonly Uint8Array[]): Asset {
  const [stem, extension] = name.split('.') as [string, keyof typeof types]
  const whole = Buffer.concat(contents)
  const prepared = prepare(types[extension], extension === 'css' ? withoutSpace(whole) : whole)
  return { ...prepared, path: `/assets/${stem}.${prepared.hash}.${extension}` }
}

/** Comments and indentation are a sixth of the size. */
function withoutSpace(css: Buffer): Buffer {
  const text = css
    .toString()
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
  return Buffer.from(text.replaceAll(/ ?([{};,]) ?/g, '$1'))
}

/**
 * Inter's Latin letters in the weights that the pages use; other scripts use system fonts. Cut from the npm package, see
 * docs/decisions/0009-dependencies.md: 26 kB instead of 48, so that the first view of a checkout is below 60 kB.
 */
const font = readAsset('inter.woff2')

/** The font's path is known only here, because it contains the hash. */
const fontFace = Buffer.from(`@font-face {
  font-family: Inter;
  font-weight: 400 700;
  font-display: swap;
  src: url("${font.path}") format("woff2");
  unicode-range: U+0020-007E, U+00A0-00FF, U+0131, U+0152-0153, U+2009-2015, U+2018-201E, U+2020-2022, U+2026, U+202F-2030, U+2039-203A, U+20AC, U+2122, U+2190-2193, U+2212;
}
`)

const base = [
  fontFace,
  ...['tokens.css', ...partsOf('base', ['text', 'controls', 'parts'])].map((file) =>
    readFileSync(join(import.meta.dirname, 'assets', file)),
  ),
]

const checkoutParts = partsOf('checkout', ['frame', 'methods', 'result', 'test-tools', 'links', 'around'])
const workspaceParts = partsOf('workspace', [
  'frame',
  'lists',
  'actions',
  'parts',
  'charts',
  'api-docs',
  'phone',
])

function partsOf(folder: string, names: readonly string[]): AssetName[] {
  return names.map((name): AssetName => `${folder}/${name}.css`)
}

export const assets = {
  style: makeAsset('tillgate.css', base),
  font,
  icon: readAsset('icon.svg'),
  checkoutStyle: readAsset('checkout.css', checkoutParts),
  checkoutScript: readAsset('checkout.js'),
  walletStyle: readAsset('wallet.css', partsOf('wallet', ['frame', 'lists'])),
  scanScript: readAsset('scan.js'),
  inStoreScript: readAsset('in-store.js'),
  timesScript: readAsset('times.js'),
  sandboxStyle: readAsset('sandbox.css'),
  sandboxScript: readAsset('sandbox.js'),
  playgroundStyle: readAsset('playground.css'),
  playgroundScript: readAsset('playground.js'),
  homeStyle: readAsset('home.css'),
  workspaceStyle: readAsset('workspace.css', workspaceParts),
  consoleScript: readAsset('console.js'),
  portalScript: readAsset('portal.js'),
  passkeyScript: readAsset('passkeys.js'),
  docsStyle: readAsset('docs.css', partsOf('docs', ['pages', 'tables'])),
  docsScript: readAsset('docs.js'),
}

export function serveAssets(listener: FastifyInstance): void {
  const serve = (path: string, asset: Asset, cacheControl: string): void => {
    listener.get(path, (request, reply) =>
      sendPrepared(request, reply.header('cache-control', cacheControl), asset),
    )
  }
  for (const asset of Object.values(assets)) serve(asset.path, asset, 'public, max-age=31536000, immutable')
  // Browsers request it when a page names no icon.
  serve('/favicon.ico', assets.icon, 'public, max-age=3600')
}
