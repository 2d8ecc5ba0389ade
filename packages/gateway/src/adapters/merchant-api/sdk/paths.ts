// The paths at which a merchant installs the SDK of this gateway's version.
export const sdkPath = '/sdk/tillgate-sdk.tgz'

export function installCommand(publicUrl: string): string {
  return `npm install ${publicUrl}${sdkPath}`
}
