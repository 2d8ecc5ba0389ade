// Where callbacks go: an endpoint of a merchant, or the callbackUrl of its orders without the query. Each destination has
// its own lane in the queue and its own health, so that a broken one delays no neighbor on its host.

/** The query often names the order, and all orders of a shop go to the same place. */
export function addressOf(callbackUrl: string): string {
  const end = callbackUrl.search(/[?#]/)
  return end === -1 ? callbackUrl : callbackUrl.slice(0, end)
}

/** Host and path, for lists. */
export function shortAddressOf(callbackUrl: string): string {
  return addressOf(callbackUrl).replace(/^https?:\/\//i, '')
}
