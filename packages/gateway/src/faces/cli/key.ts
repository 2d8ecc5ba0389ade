// tillgate key …: a merchant's keys. Up to two of a kind are live, so that one can be replaced without a pause:
// rotate, wait until the merchant uses the new one, revoke the old one.
import { Failure } from '@tillgate/protocol'
import { Command, Option } from 'commander'
import type { MadeKey } from '../../merchants/manage-merchants.ts'
import type { MerchantKey, NewKey } from '../../merchants/rules/merchant.ts'
import { commandName, type OutputOptions, print } from './context.ts'
import { readTextFile } from './files.ts'
import { keyTable, withMerchants, withoutSecret } from './merchant.ts'
import { done, merchantActs } from './money.ts'

interface KeyOptions extends OutputOptions {
  readonly aes?: boolean
  readonly publicKey?: string
  readonly reason: string
}

export function keyCommand(): Command {
  const command = new Command('key').description('add, rotate and revoke a merchant’s keys')

  command
    .command('list')
    .description('a merchant’s keys, live and revoked')
    .argument('<merchantId>')
    .option('--json', 'print JSON')
    .action((merchantId: string, options: OutputOptions) =>
      withMerchants(async (merchants) => {
        const { keys } = await merchants.showMerchant(merchantId)
        print(options, keys.map(withoutSecret), keys.length === 0 ? ['No keys yet.'] : keyTable(keys))
      }),
    )

  withKeyOptions(command.command('add'))
    .description('add a key; an AES key is made here and shown this once')
    .action((merchantId: string, options: KeyOptions) =>
      withMerchants(async (_merchants, context) => {
        const acts = merchantActs(context)
        const made = done(await acts.addKey(merchantId, newKey(options), options.reason))
        print(options, made, sayMade(made))
      }),
    )

  withKeyOptions(command.command('rotate'))
    .description('add a new key beside the live one, and say how to revoke the old one')
    .action((merchantId: string, options: KeyOptions) =>
      withMerchants(async (merchants, context) => {
        const key = newKey(options)
        const { keys } = await merchants.showMerchant(merchantId)
        const old = liveOf(keys, key.kind)
        if (old === undefined) {
          throw new Failure('status_does_not_allow', {
            message: `Merchant ${merchantId} has no live ${key.kind} key to rotate. Use: ${commandName} key add`,
          })
        }
        const made = done(await merchantActs(context).addKey(merchantId, key, options.reason))
        print(options, { ...made, oldKeyId: old.keyId }, [
          ...sayMade(made),
          'The old key works until you revoke it, once the merchant uses the new one:',
          `  ${commandName} key revoke ${merchantId} ${old.keyId} --reason rotated`,
        ])
      }),
    )

  command
    .command('revoke')
    .description('end a key; every gateway refuses it within 5 seconds')
    .argument('<merchantId>')
    .argument('<keyId>')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((merchantId: string, keyId: string, options: OutputOptions & { reason: string }) =>
      withMerchants(async (merchants) => {
        await merchants.revokeKey({ merchantId, keyId, reason: options.reason })
        print(options, { merchantId, keyId, revoked: true }, [`Key ${keyId} is revoked.`])
      }),
    )
  return command
}

function withKeyOptions(command: Command): Command {
  return command
    .argument('<merchantId>')
    .addOption(new Option('--aes', 'make a new AES key').conflicts('publicKey'))
    .option(
      '--public-key <file>',
      'the merchant’s RSA public key (PEM or bare base64); - reads standard input',
    )
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
}

function newKey({ aes, publicKey }: KeyOptions): NewKey {
  if (publicKey !== undefined) return { kind: 'rsa', publicKey: readTextFile(publicKey) }
  if (aes) return { kind: 'aes' }
  throw new Failure('invalid_field', { message: 'Say which key: --aes, or --public-key FILE.' })
}

function liveOf(keys: readonly MerchantKey[], kind: MerchantKey['kind']): MerchantKey | undefined {
  return keys.find((key) => key.kind === kind && key.revokedAtMs === undefined)
}

function sayMade({ keyId, secret }: MadeKey): string[] {
  if (secret === undefined) return [`Key ${keyId} is live.`]
  return [`Key ${keyId} is live.`, '', `  AES key  ${secret}`, '', 'Note it now: it is not shown again.']
}
