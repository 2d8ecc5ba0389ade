// Loads credentials from the sandbox's file or from environment variables.
import { readFileSync } from 'node:fs'
import type { Credentials } from './credentials.ts'
import { CredentialsError } from './errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** One JSON object with the fields of Credentials; others are ignored. Not validated yet. */
export function credentialsFromJson(text: string, source: string): Partial<Credentials> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's message would quote the text, which contains keys.
    throw new CredentialsError([`${source} is not JSON`])
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CredentialsError([`${source} is not a JSON object`])
  }
  // Safe: each field is checked when the credentials are parsed.
  const { gatewayUrl, merchantId, aesKey, privateKey, platformPublicKey, allowHttp } =
    value as Partial<Credentials>
  return dropUndefined({
    gatewayUrl,
    merchantId,
    aesKey,
    privateKey,
    platformPublicKey,
    allowHttp: allowHttp === true,
  })
}

export function credentialsFromFile(path: string): Partial<Credentials> {
  return credentialsFromJson(readOrFail(path, path), path)
}

export const environmentNames = {
  gatewayUrl: 'TILLGATE_GATEWAY_URL',
  merchantId: 'TILLGATE_MERCHANT_ID',
  aesKey: 'TILLGATE_AES_KEY',
  privateKey: 'TILLGATE_PRIVATE_KEY',
  platformPublicKey: 'TILLGATE_PLATFORM_PUBLIC_KEY',
  allowHttp: 'TILLGATE_ALLOW_HTTP',
} as const

/** Problems of credentials from the environment name its variables instead of fields. */
export function namingVariables<Made>(make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof CredentialsError)) throw error
    const names: Readonly<Record<string, string>> = environmentNames
    const problems = error.problems.map((problem) =>
      problem.replace(/^\w+(?=:)/, (field) =>
        Object.hasOwn(names, field) ? (names[field] ?? field) : field,
      ),
    )
    throw new CredentialsError(problems, { cause: error })
  }
}

/** Keys may be values, or files named by the variable with _FILE at its end. Not validated yet. */
export function credentialsFromEnvironment(environment: Environment): Partial<Credentials> {
  const problems: string[] = []
  const read = (name: string): string | undefined => {
    const inPlace = environment[name]?.trim()
    const file = environment[`${name}_FILE`]?.trim()
    if (inPlace && file) problems.push(`${name} and ${name}_FILE are both set: keep one of them`)
    if (inPlace) return withLineBreaks(inPlace)
    if (!file) return undefined
    try {
      return readOrFail(file, `${name}_FILE`)
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error
      problems.push(...error.problems)
      return undefined
    }
  }
  const credentials = {
    gatewayUrl: environment[environmentNames.gatewayUrl]?.trim(),
    merchantId: environment[environmentNames.merchantId]?.trim(),
    aesKey: several(read(environmentNames.aesKey), /,/),
    privateKey: read(environmentNames.privateKey),
    platformPublicKey: several(read(environmentNames.platformPublicKey), /,|(?<=-----END [A-Z ]+-----)\s+/),
    allowHttp: environment[environmentNames.allowHttp]?.trim() === 'true',
  }
  if (problems.length > 0) throw new CredentialsError(problems)
  return dropUndefined(credentials)
}

/** A .env file stores a PEM on one line with \n for its line breaks. */
function withLineBreaks(text: string): string {
  return text.includes('-----BEGIN') ? text.replaceAll('\\n', '\n') : text
}

/** During a rotation, one variable contains two keys, separated by a comma or as consecutive PEMs. */
function several(text: string | undefined, separator: RegExp): string | string[] | undefined {
  const parts = text?.split(separator).filter((part) => part.trim() !== '')
  return parts !== undefined && parts.length > 1 ? parts : text
}

function readOrFail(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
    throw new CredentialsError([name === path ? `${path}: ${why}` : `${name} is ${path}: ${why}`], { cause })
  }
}

function dropUndefined(
  values: {
    [Name in keyof Credentials]?: Credentials[Name] | undefined
  },
): Partial<Credentials> {
  // Safe: exactly the undefined ones are gone.
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Credentials>
}
