// The AES keys in the settings of each merchant. A callback bears the number of the key that it is sealed with; a merchant
// that does not have that key rejects it, which is wrong whatever happened before.

/** In the settings of a merchant. */
interface Installed {
  /** The key that its requests are sealed with. */
  readonly sends: string
  readonly opens: readonly string[]
}

export class InstalledKeys {
  readonly #installed = new Map<string, Installed>()
  readonly violations: string[] = []

  install(merchantId: string, keys: Installed): void {
    this.#installed.set(merchantId, keys)
  }

  of(merchantId: string): Installed {
    const installed = this.#installed.get(merchantId)
    if (!installed) throw new Error(`merchant ${merchantId} has no keys`)
    return installed
  }

  /** False: the merchant rejects the callback. */
  opens({ merchantId, keyId }: { merchantId: string; keyId: string }): boolean {
    const isInstalled = this.of(merchantId).opens.includes(keyId)
    if (!isInstalled)
      this.violations.push(`a callback to ${merchantId} was sealed with a key that it does not have`)
    return isInstalled
  }
}
