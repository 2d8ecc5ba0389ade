// tillgate merchant …: sign merchants on, look at them, stop them and let them go on.
import { Command, InvalidArgumentError } from 'commander'
import type { ManageMerchants } from '../../merchants/manage-merchants.ts'
import { type Merchant, type MerchantKey, normaliseColour } from '../../merchants/rules/merchant.ts'
import { type AmountOptions, amountText, parseAmount } from './amount.ts'
import { type CommandContext, commandName, type OutputOptions, print, table, withContext } from './context.ts'
import { readTextFile } from './files.ts'
import { done, merchantActs, moneyActs } from './money.ts'

export function merchantCommand(): Command {
  const command = new Command('merchant').description(
    'sign merchants on, look at them, suspend and resume them',
  )

  command
    .command('add')
    .description('sign a merchant on; prints its id and its AES key, which is shown this once')
    .requiredOption('--name <name>', 'as consumers will read it on the checkout')
    .option(
      '--public-key <file>',
      'the merchant’s RSA public key (PEM or bare base64); - reads standard input',
    )
    .option('--requests-per-second <number>', 'a limit of its own', positiveInteger)
    .option('--callback-hosts <hosts>', 'the only hosts callbacks may go to, separated by commas', list)
    .option('--accent-colour <colour>', 'of the checkout’s buttons, such as #1f6f5c', colour)
    .option('--json', 'print JSON')
    .action((options: AddOptions) =>
      withMerchants(async (merchants, { operations }) => {
        const { publicKey: file, json, ...rest } = options
        const publicKey = file === undefined ? {} : { publicKey: readTextFile(file) }
        const { merchant, aesKey } = await merchants.addMerchant({ ...rest, ...publicKey })
        const { merchantId, name } = merchant
        const platformPublicKey = await operations.platformPublicKey()
        print(options, { merchantId, name, aesKey, platformPublicKey }, [
          `Merchant ${name} is signed on.`,
          '',
          `  merchantId  ${merchantId}`,
          `  AES key     ${aesKey}`,
          '',
          'Note the AES key now: it is not shown again. The gateway signs callbacks with the key to this public one:',
          '',
          platformPublicKey.trimEnd(),
          '',
          ...(file === undefined
            ? [
                `Next, give its RSA public key: ${commandName} key add ${merchantId} --public-key FILE --reason "signed on"`,
              ]
            : []),
        ])
      }),
    )

  command
    .command('list')
    .description('all merchants')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withMerchants(async (merchants) => {
        const all = await merchants.listMerchants()
        print(
          options,
          all,
          all.length === 0
            ? [`No merchants yet. Sign one on: ${commandName} merchant add --name NAME --public-key FILE`]
            : table(
                ['merchantId', 'name', 'status', 'since'],
                all.map(({ merchantId, name, status, createdAtMs }) => [
                  merchantId,
                  name,
                  status,
                  day(createdAtMs),
                ]),
              ),
        )
      }),
    )

  command
    .command('show')
    .description('a merchant, its limits and its keys')
    .argument('<merchantId>')
    .option('--json', 'print JSON')
    .action((merchantId: string, options: OutputOptions) =>
      withMerchants(async (merchants) => {
        const { merchant, keys } = await merchants.showMerchant(merchantId)
        print(options, { ...merchant, keys: keys.map(withoutSecret) }, describe(merchant, keys))
      }),
    )

  command
    .command('change')
    .description('change a merchant’s name or limits')
    .argument('<merchantId>')
    .option('--name <name>', 'as consumers read it on the checkout')
    .option(
      '--requests-per-second <number>',
      'a limit of its own; "default" takes it away',
      orDefault(positiveInteger),
    )
    .option('--callback-hosts <hosts>', 'separated by commas; "default" allows any host', orDefault(list))
    .option('--accent-colour <colour>', 'such as #1f6f5c; "default" takes it away', orDefault(colour))
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((merchantId: string, options: OutputOptions & Partial<AddOptions> & { reason: string }) =>
      withMerchants(async (_merchants, context) => {
        const { json: _, reason, ...settings } = options
        const acts = merchantActs(context)
        const { merchant } = await acts.changeMerchant(merchantId, settings, reason)
        print(options, merchant, describe(merchant, []))
      }),
    )

  command
    .command('payout')
    .description('pay a merchant out: money leaves its wallet for the operator’s funding account')
    .argument('<merchantId>')
    .requiredOption('--amount <amount>', 'such as 12.50')
    .requiredOption('--currency <code>', 'ISO 4217 code')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((merchantId: string, options: OutputOptions & AmountOptions & { reason: string }) =>
      withMerchants(async (merchants, context) => {
        await merchants.showMerchant(merchantId)
        const { currency, amountMinor } = parseAmount(options)
        const { reason } = options
        const leftMinor = done(await moneyActs(context).payOut(merchantId, { currency, amountMinor, reason }))
        const [amount, left] = [amountText(amountMinor, currency), amountText(leftMinor, currency)]
        print(options, { merchantId, paidOut: amount, left }, [
          `${amount} are paid out to merchant ${merchantId}; ${left} are left in its wallet.`,
        ])
      }),
    )

  for (const [verb, done] of [
    ['suspend', 'is suspended: its requests are answered 40300 within 5 seconds.'],
    ['resume', 'is active again.'],
  ] as const) {
    command
      .command(verb)
      .description(
        verb === 'suspend' ? 'stop a merchant; nothing of it is lost' : 'let a suspended merchant go on',
      )
      .argument('<merchantId>')
      .requiredOption('--reason <text>', 'why, for the audit')
      .option('--json', 'print JSON')
      .action((merchantId: string, options: OutputOptions & { reason: string }) =>
        withMerchants(async (merchants) => {
          const change = verb === 'suspend' ? merchants.suspendMerchant : merchants.resumeMerchant
          const merchant = await change(merchantId, options.reason)
          print(options, merchant, [`Merchant ${merchantId} ${done}`])
        }),
      )
  }
  return command
}

interface AddOptions extends OutputOptions {
  readonly name: string
  readonly publicKey?: string
  readonly requestsPerSecond?: number
  readonly callbackHosts?: readonly string[]
  readonly accentColour?: string
}

export function withMerchants(
  work: (merchants: ManageMerchants, context: CommandContext) => Promise<void>,
): Promise<void> {
  return withContext((context) => work(context.acts.merchants, context))
}

function describe(merchant: Merchant, keys: readonly MerchantKey[]): string[] {
  return [
    `merchantId           ${merchant.merchantId}`,
    `name                 ${merchant.name}`,
    `status               ${merchant.status}`,
    `requests per second  ${merchant.requestsPerSecond ?? 'the default'}`,
    `callback hosts       ${merchant.callbackHosts?.join(', ') ?? 'any'}${merchant.isSelfRegistered ? ', public addresses only (it signed on by itself)' : ''}`,
    `accent colour        ${merchant.accentColour ?? 'the default'}`,
    `since                ${day(merchant.createdAtMs)}`,
    ...(keys.length > 0 ? ['', ...keyTable(keys)] : []),
  ]
}

export function keyTable(keys: readonly MerchantKey[]): string[] {
  return table(
    ['key', 'kind', 'made', 'status'],
    keys.map(({ keyId, kind, createdAtMs, revokedAtMs }) => [
      keyId,
      kind,
      day(createdAtMs),
      revokedAtMs === undefined ? 'live' : `revoked ${day(revokedAtMs)}`,
    ]),
  )
}

export function withoutSecret(key: MerchantKey) {
  const { merchantId, keyId, kind, createdAtMs, revokedAtMs } = key
  return {
    merchantId,
    keyId,
    kind,
    createdAtMs,
    revokedAtMs,
    ...(key.kind === 'rsa' && { publicKey: key.publicKey }),
  }
}

function day(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above zero.')
  return Number(text)
}

function colour(text: string): string {
  const normalised = normaliseColour(text)
  if (normalised === undefined) throw new InvalidArgumentError('It must be a colour such as #1f6f5c.')
  return normalised
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '')
}

function orDefault<T>(parse: (text: string) => T): (text: string) => T | undefined {
  return (text) => (text === 'default' ? undefined : parse(text))
}
