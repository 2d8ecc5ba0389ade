// Icons of all pages from Lucide (ISC), in the color of the surrounding text. `scripts/icons.ts` selects them.
import shapes from './assets/icons.json' with { type: 'json' }
import { Html } from './html.ts'

export type IconName = keyof typeof shapes

// Safe: these are its own keys.
const drawn = new Map(
  (Object.keys(shapes) as IconName[]).map((name) => [
    name,
    new Html(
      `<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes[name]}</svg>`,
    ),
  ]),
)

export function icon(name: IconName): Html {
  // Safe: every name has an icon.
  return drawn.get(name) as Html
}
