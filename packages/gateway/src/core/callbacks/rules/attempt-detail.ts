// Removes IP addresses from attempt details for merchants, because a name may resolve into the operator's network.

// IPv6 comes first, because an IPv6 address may end in an IPv4 address.
const addresses =
  /\s?\[?(?<![\w:])[0-9a-f]*(?::[0-9a-f.]*){2,}\]?(?::\d{1,5})?|\s?(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?/gi

interface FailedAttempt {
  readonly outcome: string
  readonly detail: string | undefined
}

export function detailForMerchant({ outcome, detail }: FailedAttempt): string | undefined {
  if (detail === undefined || outcome === 'address_not_public') return undefined
  return detail.replaceAll(addresses, '')
}
