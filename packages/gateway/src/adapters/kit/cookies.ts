// Cookies of the checkout: not readable by scripts, never sent from another site's form, and in live bound to this host
// over https by the prefix __Host-.

export interface CookieJar {
  name(plain: string): string
  read(header: string | undefined, plain: string): string | undefined
  write(plain: string, value: string, maxAgeSeconds: number): string
  remove(plain: string): string
}

/** The maximum number of cookies read; browsers send far fewer. */
const maxCookies = 200

export function makeCookieJar({ isSecure }: { isSecure: boolean }): CookieJar {
  const name = (plain: string) => (isSecure ? `__Host-${plain}` : plain)
  const write = (plain: string, value: string, maxAgeSeconds: number) =>
    `${name(plain)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`
  return {
    name,
    write,
    remove: (plain) => write(plain, '', 0),
    read(header, plain) {
      const wanted = name(plain)
      for (const pair of header?.split(';', maxCookies) ?? []) {
        const equals = pair.indexOf('=')
        if (equals > 0 && pair.slice(0, equals).trim() === wanted) return pair.slice(equals + 1).trim()
      }
      return undefined
    },
  }
}
