// The protocol in the browser, step by step. It deliberately shares no code with the gateway, because it shows what a
// client in another language has to do.
const at = (id) => document.getElementById(id)
const place = 'tillgate-credentials'
const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
const encoder = new TextEncoder()

let keys
let sealed
let paymentId = ''
let cursor
let turn = 0

if (!globalThis.crypto?.subtle) at('insecure').hidden = false
else start()

function start() {
  at('method').addEventListener('change', showExample)
  at('body').addEventListener('input', soon(form))
  at('credentials').addEventListener('input', soon(takeKeys))
  at('callback').addEventListener('input', soon(open))
  at('send').addEventListener('click', () => send().catch(showTrouble))
  at('listen').addEventListener('click', () => listen().catch(showTrouble))
  at('forget').addEventListener('click', forget)
  // Handed over by the access page in this tab; closing the tab deletes it.
  const handed = sessionStorage.getItem(place)
  if (handed) at('credentials').value = handed
  showExample()
  takeKeys()
}

async function takeKeys() {
  const text = at('credentials').value.trim()
  keys = undefined
  if (text === '') tell('keys-state', '', '')
  else {
    try {
      keys = await importKeys(readCredentials(text))
      tell('keys-state', `Keys of merchant ${keys.merchantId} are ready.`, 'good')
      sessionStorage.setItem(place, text)
      cursor = undefined
    } catch (error) {
      tell('keys-state', error.message, 'problem')
    }
  }
  at('forget').hidden = text === ''
  for (const id of ['send', 'listen']) at(id).disabled = !keys
  await form()
  await open()
}

function forget() {
  sessionStorage.removeItem(place)
  at('credentials').value = ''
  takeKeys()
}

function readCredentials(text) {
  if (text.startsWith('{')) return JSON.parse(text)
  const lines = [...text.matchAll(/^\s*TILLGATE_([A-Z_]+)\s*=\s*"?(.*?)"?\s*$/gm)]
  return Object.fromEntries(
    lines.map(([, name, value]) => [
      name.toLowerCase().replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
      value.replaceAll('\\n', '\n'),
    ]),
  )
}

async function importKeys({ merchantId, aesKey, privateKey, platformPublicKey }) {
  const missing = Object.entries({ merchantId, aesKey, privateKey, platformPublicKey })
    .filter(([, value]) => !value)
    .map(([name]) => name)
  if (missing.length > 0) throw new Error(`These are missing: ${missing.join(', ')}.`)
  if (privateKey.includes('BEGIN RSA PRIVATE KEY')) {
    throw new Error('Browsers read PKCS#8: openssl pkcs8 -topk8 -nocrypt -in private.pem')
  }
  const named = (name, importing) =>
    importing.catch(() => {
      throw new Error(`${name} is not a key of its kind.`)
    })
  return {
    merchantId,
    aes: await named('aesKey', importAes(aesKey)),
    private: await named('privateKey', importRsa('pkcs8', privateKey, 'sign')),
    platform: await named('platformPublicKey', importRsa('spki', platformPublicKey, 'verify')),
  }
}

async function importAes(key) {
  return crypto.subtle.importKey('raw', bytesOf(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
}

async function importRsa(format, pem, use) {
  return crypto.subtle.importKey(format, bytesOf(pem.replace(/-----[A-Z ]+-----|\s/g, '')), rsa, false, [use])
}

function showExample() {
  const { example, meaning } = at('method').selectedOptions[0].dataset
  const now = Date.now()
  at('meaning').textContent = meaning
  at('body').value = example
    .replace('"{{now}}"', now)
    .replace('"{{expiry}}"', now + 30 * 60_000)
    .replace('{{number}}', `play-${now}`)
    .replace('{{paymentId}}', paymentId)
  form()
}

/** Steps 2 to 4, updated after every change. */
async function form() {
  const mine = ++turn
  const method = at('method').value
  const body = at('body').value
  at('body-problem').textContent = problemOf(body)
  const timestamp = Date.now()
  at('string').textContent = stringToSign({ method, body, timestamp })
  const made = keys && (await seal({ method, body, timestamp }))
  // A newer change has started.
  if (mine !== turn) return
  sealed = made
  at('sign').textContent = made?.sign ?? 'Paste your keys above.'
  at('envelope').textContent = made ? JSON.stringify(made, null, 2) : 'Paste your keys above.'
}

function problemOf(body) {
  try {
    JSON.parse(body)
    return ''
  } catch (error) {
    return `This is no JSON, and the gateway will say so: ${error.message}`
  }
}

function stringToSign({ method, body, timestamp }) {
  const merchantId = keys?.merchantId ?? 'MERCHANT_ID'
  return `body=${body}&charset=utf-8&encryptType=AES&format=json&merchantId=${merchantId}&method=${method}&signType=RSA&timestamp=${timestamp}`
}

async function seal({ method, body, timestamp }) {
  const string = stringToSign({ method, body, timestamp })
  const sign = await crypto.subtle.sign(rsa.name, keys.private, encoder.encode(string))
  const nonce = crypto.getRandomValues(new Uint8Array(12))
  const ciphertext = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: nonce },
    keys.aes,
    encoder.encode(body),
  )
  return {
    merchantId: keys.merchantId,
    method,
    sign: base64Of(sign),
    timestamp,
    body: base64Of(new Uint8Array([...nonce, ...new Uint8Array(ciphertext)])),
  }
}

async function send() {
  // From just before the request, so that its callbacks can be acknowledged afterwards.
  if (cursor === undefined) cursor = (await call('service.sandbox.listen', {})).answer.data?.after
  // With the current time, because an old timestamp would be rejected.
  await form()
  const { status, answer } = await post(sealed)
  at('answer').textContent = `HTTP ${status}\n${JSON.stringify(answer, null, 2)}`
  const { paymentId: given, checkoutUrl } = answer.data ?? {}
  if (answer.code === 20000 && given) paymentId = given
  at('after').replaceChildren(...(checkoutUrl ? [link(checkoutUrl, 'Pay it on the checkout')] : []))
}

async function listen() {
  tell('verdict', 'Waiting for a callback …', '')
  const body = cursor === undefined ? {} : { after: cursor, waitMs: 5_000 }
  const { answer } = await call('service.sandbox.listen', body)
  cursor = answer.data?.after ?? cursor
  const newest = answer.data?.callbacks?.at(-1)
  if (!newest) {
    tell('verdict', 'None came. Create an order with a callbackUrl here, pay it, and try again.', '')
    return
  }
  at('callback').value = JSON.stringify(JSON.parse(newest.envelope), null, 2)
  await open()
}

async function open() {
  const text = at('callback').value.trim()
  for (const id of ['verified', 'opened']) at(id).textContent = ''
  if (text === '') return tell('verdict', '', '')
  if (!keys) return tell('verdict', 'Paste your keys above.', '')
  try {
    const envelope = JSON.parse(text)
    if (envelope.merchantId !== keys.merchantId) throw new Error('It is for another merchant.')
    const body = await decrypt(envelope.body)
    const { eventName, id, merchantId, timestamp } = envelope
    const string = `body=${body}&charset=utf-8&encryptType=AES&eventName=${eventName}&format=json&id=${id}&merchantId=${merchantId}&signType=RSA&timestamp=${timestamp}`
    at('verified').textContent = string
    const isGenuine = await crypto.subtle
      .verify(rsa.name, keys.platform, bytesOf(envelope.sign), encoder.encode(string))
      .catch(() => false)
    if (!isGenuine)
      throw new Error('The signature is not the gateway’s over this string: treat it as never received.')
    at('opened').textContent = JSON.stringify(JSON.parse(body), null, 2)
    tell('verdict', 'Genuine: it was signed by the gateway and is whole.', 'good')
  } catch (error) {
    tell('verdict', error.message, 'problem')
  }
}

async function decrypt(body) {
  try {
    const bytes = bytesOf(body)
    const plain = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: bytes.slice(0, 12) },
      keys.aes,
      bytes.slice(12),
    )
    return new TextDecoder().decode(plain)
  } catch {
    throw new Error('The body does not open with your AES key: another key, or it was changed on the way.')
  }
}

async function call(method, plain) {
  return post(await seal({ method, body: JSON.stringify(plain), timestamp: Date.now() }))
}

async function post(envelope) {
  const response = await fetch(document.querySelector('main').dataset.gateway, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(envelope),
  })
  return { status: response.status, answer: await response.json() }
}

function showTrouble() {
  at('answer').textContent = 'The gateway could not be reached. Try again.'
}

function tell(id, words, tone) {
  at(id).textContent = words
  at(id).className = tone
}

function link(href, words) {
  const element = document.createElement('a')
  element.href = href
  element.textContent = words
  return element
}

/** After a pause in typing. */
function soon(work) {
  let timer
  return () => {
    clearTimeout(timer)
    timer = setTimeout(work, 120)
  }
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

function base64Of(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
}
