// Where a merchant installs the SDK of this gateway's own version from, for itself and for whoever shows it.
export const sdkPath = '/sdk/tillgate-sdk.tgz'

export function installCommand(publicUrl: string): string {
  return `npm install ${publicUrl}${sdkPath}`
}
