// Certificates made for one test run by openssl's command line: an authority, and receivers that it vouches for
// rightly or wrongly. They live in a temporary folder only while they are being made.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface Authority {
  readonly ca: string
  /** `altNames` as openssl writes them: `DNS:shop.test`, `IP:127.0.0.1`. Days may lie in the past. */
  issue(options: { readonly altNames: readonly string[]; readonly validDays?: Days }): Certificate
}

interface Days {
  readonly from: number
  readonly to: number
}

const dayMs = 86_400_000

export function makeAuthority(commonName = 'Test authority'): Authority {
  const authority = sign({
    subject: commonName,
    extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'],
    validDays: { from: -30, to: 30 },
  })
  return {
    ca: authority.cert,
    issue: ({ altNames, validDays = { from: -1, to: 30 } }) =>
      sign({ subject: 'Receiver', extensions: receiverExtensions(altNames), validDays, issuer: authority }),
  }
}

export function makeSelfSigned(altNames: readonly string[]): Certificate {
  return sign({
    subject: 'Receiver',
    extensions: receiverExtensions(altNames),
    validDays: { from: -1, to: 30 },
  })
}

function receiverExtensions(altNames: readonly string[]): readonly string[] {
  return [`subjectAltName=${altNames.join(',')}`, 'extendedKeyUsage=serverAuth']
}

// `openssl ca` is the one command of OpenSSL 3.0 that sets both ends of the validity, so that it can be over.
function sign(options: {
  readonly subject: string
  readonly extensions: readonly string[]
  readonly validDays: Days
  readonly issuer?: Certificate
}): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'tillgate-certificates-'))
  const path = (name: string): string => join(folder, name)
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  }
  try {
    writeFileSync(path('config'), configuration(options.extensions))
    writeFileSync(path('index'), '')
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'key')
    openssl(
      'req',
      '-new',
      '-config',
      'config',
      '-key',
      'key',
      '-subj',
      `/CN=${options.subject}`,
      '-out',
      'request',
    )
    if (options.issuer) {
      writeFileSync(path('issuer-cert'), options.issuer.cert)
      writeFileSync(path('issuer-key'), options.issuer.key)
    }
    const issuer = options.issuer
      ? ['-cert', 'issuer-cert', '-keyfile', 'issuer-key']
      : ['-selfsign', '-keyfile', 'key']
    const { from, to } = options.validDays
    const validity = ['-startdate', opensslDate(from), '-enddate', opensslDate(to)]
    openssl(
      'ca',
      '-batch',
      '-notext',
      '-config',
      'config',
      '-in',
      'request',
      '-out',
      'cert',
      ...issuer,
      ...validity,
    )
    return { cert: readFileSync(path('cert'), 'utf8'), key: readFileSync(path('key'), 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function configuration(extensions: readonly string[]): string {
  return `
[req]
distinguished_name = name
[name]
[ca]
default_ca = this
[this]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = policy
x509_extensions = extensions
[policy]
commonName = supplied
[extensions]
${extensions.join('\n')}
`
}

function opensslDate(days: number): string {
  return new Date(Date.now() + days * dayMs).toISOString().replace(/[-:T]|\.\d+/g, '')
}
