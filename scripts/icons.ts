// Copies the icons that the pages use from lucide-static (ISC) into one file, so that the gateway does not install all
// 1,700. Run it after adding a name: `node scripts/icons.ts`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const names = [
  'arrow-down-left',
  'arrow-right',
  'arrow-up-right',
  'ban',
  'banknote',
  'bell',
  'book-open',
  'check',
  'chevron-down',
  'chevron-left',
  'chevron-right',
  'circle-alert',
  'circle-check',
  'circle-dashed',
  'circle-user',
  'circle-x',
  'clock',
  'code-xml',
  'coins',
  'copy',
  'credit-card',
  'download',
  'ellipsis',
  'external-link',
  'file-text',
  'fingerprint',
  'flask-conical',
  'globe',
  'house',
  'inbox',
  'info',
  'key-round',
  'landmark',
  'layout-dashboard',
  'link',
  'list-filter',
  'loader-circle',
  'lock',
  'log-out',
  'mail',
  'menu',
  'minus',
  'pause',
  'plus',
  'printer',
  'qr-code',
  'receipt-text',
  'refresh-cw',
  'rotate-ccw',
  'scale',
  'scroll-text',
  'search',
  'send',
  'server',
  'settings',
  'share-2',
  'shield-check',
  'shopping-bag',
  'smartphone',
  'store',
  'terminal',
  'triangle-alert',
  'user-check',
  'users',
  'wallet',
  'webhook',
  'x',
] as const

const root = join(import.meta.dirname, '..')
const file = 'packages/gateway/src/adapters/kit/assets/icons.json'

export function iconsFile(): string {
  const shapes = names.map((name) => {
    const svg = readFileSync(join(root, 'node_modules/lucide-static/icons', `${name}.svg`), 'utf8')
    const shape = /<svg[^>]*>([\s\S]*)<\/svg>/.exec(svg)?.[1] ?? ''
    return [name, shape.replace(/\s*\n\s*/g, '').replaceAll(' />', '/>')] as const
  })
  return `${JSON.stringify(Object.fromEntries(shapes), undefined, 2)}\n`
}

if (import.meta.main) writeFileSync(join(root, file), iconsFile())
