// Spellings of field names: callback_url, CallbackURL and notifyUrl are one name, because other interfaces use other
// words for the same field.

const words: ReadonlyMap<string, string> = new Map([
  ['notify', 'callback'],
  ['notification', 'callback'],
  ['webhook', 'callback'],
  ['return', 'redirect'],
  ['uri', 'url'],
  ['number', 'no'],
  ['qty', 'quantity'],
  ['expire', 'expiry'],
  ['expires', 'expiry'],
  ['expiration', 'expiry'],
])

/** The name in one spelling, for comparison. */
export function plainName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => words.get(word) ?? word)
    .join('')
}
