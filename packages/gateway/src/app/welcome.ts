// What a person at a terminal reads when the gateway is up.
import { styleText } from 'node:util'
import { version } from '../platform/version.ts'

export interface Running {
  readonly mode: string
  readonly processes: number
  readonly publicUrl: string
  readonly adminUrl: string
  readonly shopUrl: string | undefined
  readonly railUrl: string | undefined
  /** Nobody but this machine reaches the public listener. */
  readonly isLocal: boolean
}

export function welcome({
  mode,
  processes,
  publicUrl,
  adminUrl,
  shopUrl,
  railUrl,
  isLocal,
}: Running): string {
  const bold = (text: string) => styleText('bold', text)
  const count = processes === 1 ? 'one process' : `${processes} processes`
  const api = publicUrl
    ? `
  Merchant API and checkout   ${bold(publicUrl)}
  Console                     ${bold(adminUrl)}`
    : `
  Workers only; metrics at    ${bold(`${adminUrl}/metrics`)}`
  const shop = shopUrl ? `\n  Buy something:              ${bold(shopUrl)}` : ''
  const bank = railUrl ? `\n  Test bank, to pay over:     ${bold(railUrl)}` : ''
  const open = publicUrl && isLocal ? `\n  For other machines too:     HOST=0.0.0.0 npm start` : ''
  return `
  ${bold(`Tillgate ${version}`)}, ${mode}, ${count}
${api}${shop}${bank}${open}

  Sign a merchant on:         npm run tillgate -- merchant add --help
  Stop:                       Ctrl-C

`
}
