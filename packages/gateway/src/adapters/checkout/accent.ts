// Adjusts the merchant's accent color for readability: darkened on light backgrounds or lightened on dark ones until
// links and buttons reach the contrast of WCAG AA, with black or white text on it, whichever reads better.
import { remember } from '../../platform/runtime/remember.ts'

/** AA requires 4.5 for text; the margin covers rounding to whole channels. */
const wantedContrast = 4.6
/** The surface color in tillgate.css, which is the harder of the two backgrounds in each scheme. */
const grounds = { light: '#fbfbf9', dark: '#1b1e1d' } as const
const steps = 50

export interface Accent {
  readonly accent: string
  readonly onAccent: string
}

/** For a style element; undefined if the merchant has no color. */
export function accentStyle(colour: string | undefined): string | undefined {
  return colour === undefined ? undefined : styleOf(colour)
}

const styleOf = remember(
  (colour: string) => {
    const light = fitAccent(colour, 'light')
    const dark = fitAccent(colour, 'dark')
    return `${declare(light)}@media (prefers-color-scheme:dark){${declare(dark)}}`
  },
  { keyOf: (colour) => colour, most: 1_000 },
)

function declare({ accent, onAccent }: Accent): string {
  return `:root{--accent:${accent};--on-accent:${onAccent}}`
}

export function fitAccent(colour: string, scheme: 'light' | 'dark'): Accent {
  const ground = grounds[scheme]
  const target = scheme === 'light' ? '#000000' : '#ffffff'
  let accent = colour
  for (let step = 1; step <= steps && contrast(accent, ground) < wantedContrast; step++)
    accent = mix(colour, target, step / steps)
  const onAccent = contrast(accent, '#ffffff') >= contrast(accent, '#000000') ? '#ffffff' : '#000000'
  return { accent, onAccent }
}

/** WCAG 2.2's contrast ratio. */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(from: string, to: string, share: number): string {
  const target = channels(to)
  const mixed = channels(from).map((value, index) =>
    Math.round(value + ((target[index] ?? 0) - value) * share),
  )
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16))
}
