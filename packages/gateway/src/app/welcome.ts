// The block that a person sees in the terminal when the gateway is up, with everything needed for the next step.
import { styleText } from 'node:util'
import { installCommand } from '../adapters/merchant-api/sdk/paths.ts'
import { prefix as portalPath } from '../adapters/portal/portal.ts'
import { playgroundPath, sandboxAccessPath } from '../adapters/sandbox/paths.ts'
import { prefix as walletPath } from '../adapters/wallet/wallet.ts'
import { build } from '../platform/runtime/version.ts'

export interface FirstOperator {
  readonly login: string
  readonly password: string
}

export interface Running {
  readonly mode: 'sandbox' | 'live'
  readonly processes: number
  readonly publicUrl: string
  readonly adminUrl: string
  readonly shopUrl: string | undefined
  readonly isAccessGiven: boolean
  readonly hasPortal: boolean
  readonly hasWalletPages: boolean
  readonly railUrl: string | undefined
  /** Only this machine can reach the public listener. */
  readonly isLocal: boolean
  /** Created by this start. */
  readonly firstOperator: FirstOperator | undefined
}

type Row = readonly [label: string, value: string | undefined | false]

export function welcome(running: Running): string {
  const { mode, processes, publicUrl, adminUrl, shopUrl, railUrl, isLocal, firstOperator } = running
  const bold = (text: string) => styleText('bold', text)
  const count = processes === 1 ? 'one process' : `${processes} processes`
  const isSandbox = mode === 'sandbox'
  const addresses: Row[] = publicUrl
    ? [
        ['Merchant API and checkout', publicUrl],
        ['Documentation', `${publicUrl}/docs`],
        ['Create your own account', running.isAccessGiven && `${publicUrl}${sandboxAccessPath}`],
        ['Playground', isSandbox && `${publicUrl}${playgroundPath}`],
        ['Demo shop', shopUrl],
        ['Test bank (a rail)', railUrl],
        ['Merchant’s portal', running.hasPortal && `${publicUrl}${portalPath}`],
        ['Consumer’s wallet', running.hasWalletPages && `${publicUrl}${walletPath}`],
        ['Console', adminUrl],
      ]
    : [['Workers only; metrics at', `${adminUrl}/metrics`]]
  const next: Row[] = [
    ['Take a test payment', isSandbox && publicUrl && 'npx till trigger payment.order.success'],
    ['In your own project', publicUrl && installCommand(publicUrl)],
    ['Onboard a merchant', 'npm run tillgate -- merchant add --help'],
    ['To allow other machines', publicUrl && isLocal && 'HOST=0.0.0.0 npm start'],
    ['Stop', 'Ctrl-C'],
  ]
  return [
    '',
    `  ${bold(`Tillgate ${build}`)}, ${mode}, ${count}`,
    '',
    ...linesOf(addresses.map(([label, value]) => [label, value && bold(value)])),
    ...(firstOperator ? ['', ...operatorLines(firstOperator)] : []),
    '',
    ...linesOf(next),
    '',
    '',
  ].join('\n')
}

/** Printed separately without a terminal, or if the start failed. */
export function operatorLines({ login, password }: FirstOperator): string[] {
  return linesOf([
    ['First operator’s login', login],
    ['Password, shown only once', password],
  ])
}

const labelWidth = 26

function linesOf(rows: readonly Row[]): string[] {
  return rows.flatMap(([label, value]) => (value ? [`  ${label.padEnd(labelWidth)}  ${value}`] : []))
}
