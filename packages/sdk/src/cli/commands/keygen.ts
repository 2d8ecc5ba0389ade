// till keygen: generates the merchant's RSA pair locally, so that the private key never leaves the machine. The gateway
// issues the AES key.
import { createHash, generateKeyPair } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { maxRsaBits, minRsaBits } from '@tillgate/protocol'
import { type Command, exitCodes, jsonOption, textOption, UsageError } from '../command.ts'

export const keygenCommand: Command = {
  name: 'keygen',
  summary: 'create your RSA key pair: private.pem and public.pem',
  positionals: [],
  options: {
    out: { type: 'string', value: 'FOLDER', about: 'the folder; default: the current one' },
    bits: {
      type: 'string',
      value: 'BITS',
      about: '2048, 3072 or 4096; default: 2048',
      choices: ['2048', '3072', '4096'],
    },
    force: { type: 'boolean', about: 'overwrite existing files' },
    ...jsonOption,
  },
  examples: ['till keygen --out keys'],
  usesGateway: false,
  async run({ values, terminal }) {
    const modulusLength = Number(textOption(values, 'bits') ?? minRsaBits)
    if (!Number.isInteger(modulusLength / 8) || modulusLength < minRsaBits || modulusLength > maxRsaBits) {
      throw new UsageError(`--bits must be a multiple of 8 from ${minRsaBits} to ${maxRsaBits}.`)
    }
    const folder = textOption(values, 'out') ?? '.'
    const files = { privateKeyFile: join(folder, 'private.pem'), publicKeyFile: join(folder, 'public.pem') }
    const force = values['force'] === true
    // Checked before the slow generation.
    const inTheWay = Object.values(files).find((file) => !force && terminal.fileExists(file))
    if (inTheWay) throw new UsageError(`${inTheWay} already exists. Use --out, or --force to overwrite it.`)
    const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', {
      modulusLength,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    terminal.writeFile(files.privateKeyFile, privateKey, { mode: 0o600, force })
    terminal.writeFile(files.publicKeyFile, publicKey, { mode: 0o644, force })
    const fingerprint = `SHA256:${createHash('sha256').update(publicKey).digest('base64')}`
    terminal.print({ ...files, fingerprint, publicKey }, [
      `${files.privateKeyFile}  your private key: keep it secret`,
      `${files.publicKeyFile}   your public key: send it to the operator of the gateway`,
      '',
      'The gateway issues your merchantId and your AES key.',
      'To replace a key in use: add this public key in the portal, sign with this private key, then revoke the old key.',
    ])
    return exitCodes.done
  },
}
