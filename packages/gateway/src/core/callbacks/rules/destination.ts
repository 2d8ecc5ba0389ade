// A callback's destination: a webhook endpoint, or the order's callbackUrl without its query. Each has its own lane
// and health, so that a broken destination delays no other on its host.

/** The query often names the order, so all orders of a shop share one destination. */
export function addressOf(callbackUrl: string): string {
  const end = callbackUrl.search(/[?#]/)
  return end === -1 ? callbackUrl : callbackUrl.slice(0, end)
}

export function shortAddressOf(callbackUrl: string): string {
  return addressOf(callbackUrl).replace(/^https?:\/\//i, '')
}
