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

/** What other interfaces call a field, in one spelling. */
const otherWords: ReadonlyMap<string, readonly string[]> = new Map([
  ['merchantid', ['mid', 'appid', 'mchid', 'merchant', 'partnerid']],
  ['method', ['service', 'action', 'operation', 'apiname']],
  ['timestamp', ['time', 'ts', 'requesttime']],
  ['sign', ['sig', 'signature', 'hmac']],
  ['body', ['data', 'payload', 'content', 'bizcontent', 'encrypteddata', 'ciphertext']],
  ['goods', ['items', 'products', 'lineitems', 'goodslist']],
  ['goodsname', ['name', 'title']],
  ['referencegoodsid', ['id', 'sku', 'goodsid', 'productid']],
  ['orderno', ['outtradeno', 'referorderno', 'outorderno', 'orderid', 'reference', 'merchantorderno']],
  ['referrefundno', ['outrefundno', 'refundreference', 'merchantrefundno']],
  ['paymentexpirytime', ['expiresat', 'timeout', 'validuntil']],
])

/** Whether a name, in one spelling, is another word for a field. */
export function isOtherWord(name: string, field: string): boolean {
  return otherWords.get(field)?.includes(name) === true
}

/** The name in one spelling, for comparison. */
export function plainName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => words.get(word) ?? word)
    .join('')
}
