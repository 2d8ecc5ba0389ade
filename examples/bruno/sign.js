// Turns the plain body of a request into the signed and sealed envelope, as docs/protocol.md says. Bruno calls it before
// every request of this collection (see collection.bru).
const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

/** The file that a sandbox writes, or one like it. */
function readCredentials(file, folder) {
  return JSON.parse(fs.readFileSync(path.resolve(folder, file), 'utf8'))
}

function seal({ credentials, method, body, timestamp = Date.now(), nonce = crypto.randomBytes(12) }) {
  const { merchantId, aesKey, privateKey } = credentials
  const stringToSign = `body=${body}&charset=utf-8&encryptType=AES&format=json&merchantId=${merchantId}&method=${method}&signType=RSA&timestamp=${timestamp}`
  const sign = crypto.sign('sha256', Buffer.from(stringToSign), privateKey).toString('base64')
  const cipher = crypto.createCipheriv('aes-256-gcm', Buffer.from(aesKey, 'base64'), nonce, {
    authTagLength: 16,
  })
  const sealed = Buffer.concat([nonce, cipher.update(body, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { merchantId, method, sign, timestamp, body: sealed.toString('base64') }
}

/** What stands in double braces is filled in first: what is signed must be what is sent. */
function sealRequest({ req, bru }) {
  const now = Date.now()
  const values = { now, expiry: now + 30 * 60_000 }
  const plain = req.getBody()
  const text = typeof plain === 'string' ? plain : JSON.stringify(plain)
  const body = text.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name] ?? bru.getVar(name) ?? '')
  const credentials = readCredentials(bru.getEnvVar('credentials'), bru.cwd())
  req.setBody(seal({ credentials, method: req.getHeader('x-method'), body, timestamp: now }))
}

module.exports = { seal, sealRequest }
