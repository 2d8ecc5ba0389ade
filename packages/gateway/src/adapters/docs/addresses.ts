// Docs pages name a sandbox's default addresses; a gateway replaces them with its own.

export const usual = {
  publicUrl: 'http://localhost:8080',
  adminUrl: 'http://localhost:8081',
  shopUrl: 'http://localhost:8082',
  railUrl: 'http://localhost:8083',
} as const

export interface OwnAddresses {
  readonly publicUrl: string
  readonly adminUrl?: string | undefined
  readonly shopUrl?: string | undefined
  readonly railUrl?: string | undefined
}

/** Live has no sandbox, so only the SDK's address is replaced. */
export function withOwnAddresses(
  text: string,
  { mode, own }: { mode: 'sandbox' | 'live'; own: OwnAddresses },
): string {
  if (mode === 'live') return text.replaceAll(`${usual.publicUrl}/sdk/`, `${own.publicUrl}/sdk/`)
  return text.replaceAll(
    /http:\/\/localhost:808[0-3]\b/g,
    (found) =>
      ({
        [usual.publicUrl]: own.publicUrl,
        [usual.adminUrl]: own.adminUrl,
        [usual.shopUrl]: own.shopUrl,
        [usual.railUrl]: own.railUrl,
      })[found] ?? found,
  )
}
