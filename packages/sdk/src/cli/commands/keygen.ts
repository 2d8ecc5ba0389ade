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
    out: { type: 'string', value: 'FOLDER', about: 'where to; this folder when left out' },
    bits: {
      type: 'string',
      value: 'BITS',
      about: '2048, 3072 or 4096; 2048 when left out',
      choices: ['2048', '3072', '4096'],
    },
    force: { type: 'boolean', about: 'write over files that are there' },
    ...jsonOption,
  },
  examples: ['till keygen --out keys'],
  usesGateway: false,
  async run({ values, terminal }) {
    const modulusLength = Number(textOption(values, 'bits') ?? minRsaBits)
    if (!Number.isInteger(modulusLength / 8) || modulusLength < minRsaBits || modulusLength > maxRsaBits) {
      throw new UsageError(`--bits is a multiple of 8 from ${minRsaBits} to ${maxRsaBits}.`)
    }
    const folder = textOption(values, 'out') ?? '.'
    const files = { privateKeyFile: join(folder, 'private.pem'), publicKeyFile: join(folder, 'public.pem') }
    const force = values['force'] === true
    // Checked before the slow generation.
    const inTheWay = Object.values(files).find((file) => !force && terminal.fileExists(file))
    if (inTheWay)
      throw new UsageError(`${inTheWay} is there already. Use --out, or --force to write over it.`)
    const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', {
      modulusLength,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    terminal.writeFile(files.privateKeyFile, privateKey, { mode: 0o600, force })
    terminal.writeFile(files.publicKeyFile, publicKey, { mode: 0o644, force })
    const fingerprint = `SHA256:${createHash('sha256').update(publicKey).digest('base64')}`
    terminal.print({ ...files, fingerprint, publicKey }, [
      `${files.privateKeyFile}  your private key: keep it, give it to nobody`,
      `${files.publicKeyFile}   your public key: give it to the operator of the gateway`,
      '',
      'The gateway issues your merchantId and your AES key.',
      'To replace a key that is in use: add this public key in the portal, sign with this private key, then revoke the old key.',
    ])
    return exitCodes.done
  },
}
