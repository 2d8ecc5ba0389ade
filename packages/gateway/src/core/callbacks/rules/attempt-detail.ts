// What a merchant reads of an attempt that failed. The network's own words name addresses, and a name may lead into the
// operator's network: which address that is, operators see and merchants do not.

// An IPv6 address first, because one can end in an IPv4 address; each with its port.
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
