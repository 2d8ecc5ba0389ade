// What a browser says of itself, as far as its owner needs it to know it again; the rest is not kept.

const programs = [
  ['Edge', /\bEdgA?\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const
const systems = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
] as const

/** Empty: nothing that we know. */
export function deviceName(userAgent: string): string {
  return [programs, systems]
    .flatMap((known) => known.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? [])
    .join(', ')
}
