// Encrypts backups in the age format (age-encryption.org/v1) with a passphrase or to public keys. With public keys,
// the machine that makes backups cannot read them.
import { Readable } from 'node:stream'
import { Decrypter, Encrypter } from 'age-encryption'
import { messageOf } from '../../runtime/errors.ts'
import { StartFailure } from '../../runtime/start-failure.ts'

export type BackupEncryption =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | { readonly kind: 'recipients'; readonly recipients: readonly string[] }

export type BackupDecryption =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | { readonly kind: 'identities'; readonly identities: readonly string[] }

export const encryptedBeginning = Buffer.from('age-encryption.org/')
export const minPassphraseLength = 12

/** Throws if a key is invalid, before anything is written. */
export function makeEncrypter(encryption: BackupEncryption): Encrypter {
  const encrypter = new Encrypter()
  if (encryption.kind === 'passphrase') {
    if ([...encryption.passphrase].length < minPassphraseLength)
      throw new StartFailure(`The passphrase must be at least ${minPassphraseLength} characters long.`)
    encrypter.setPassphrase(encryption.passphrase)
    return encrypter
  }
  for (const recipient of encryption.recipients)
    parsed(() => encrypter.addRecipient(recipient), `${recipient} is no public key of age (age1…)`)
  return encrypter
}

function makeDecrypter(decryption: BackupDecryption): Decrypter {
  const decrypter = new Decrypter()
  if (decryption.kind === 'passphrase') decrypter.addPassphrase(decryption.passphrase)
  else {
    for (const identity of decryption.identities)
      parsed(() => decrypter.addIdentity(identity), 'The file of identities holds a line that is none of age')
  }
  return decrypter
}

function parsed(add: () => void, trouble: string): void {
  try {
    add()
  } catch (cause) {
    throw new StartFailure(`${trouble}.`, { cause })
  }
}

export async function encrypted(plain: Readable, encrypter: Encrypter): Promise<Readable> {
  return Readable.fromWeb(await encrypter.encrypt(toWeb(plain)))
}

export async function* decrypted(file: Readable, decryption: BackupDecryption): AsyncIterable<Uint8Array> {
  const plain = await makeDecrypter(decryption)
    .decrypt(toWeb(file))
    .catch((cause: Error) => {
      if (cause instanceof StartFailure) throw cause
      throw new StartFailure(
        `The backup does not open (${cause.message}): it was encrypted to another passphrase or key, or its beginning is damaged. Nothing was restored.`,
        { cause },
      )
    })
  try {
    yield* Readable.fromWeb(plain)
  } catch (cause) {
    throw new StartFailure(
      `The backup is damaged: it was cut or changed (${messageOf(cause)}). Nothing was restored.`,
      { cause },
    )
  }
}

function toWeb(stream: Readable): ReadableStream<Uint8Array> {
  // Safe: a stream of bytes, which Node's own type leaves open.
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>
}
