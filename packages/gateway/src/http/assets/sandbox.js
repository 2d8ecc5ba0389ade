// Makes the RSA pair in the browser. The private key is never part of a request: it is kept in this page and put
// beside what the gateway answered.
const form = document.querySelector('#access')
// Browsers have it over https and on localhost alone; elsewhere the form stays as it is, for a pasted key.
if (form && globalThis.crypto?.subtle) {
  const ownKey = form.querySelector('#own-key')
  const publicKey = form.querySelector('#publicKey')
  const inBrowser = form.querySelector('#in-browser')
  const isPasted = () => ownKey.open && publicKey.value.trim() !== ''
  const show = () => {
    publicKey.required = ownKey.open
    inBrowser.hidden = ownKey.open
  }
  if (publicKey.value.trim() === '') ownKey.open = false
  ownKey.querySelector('summary').textContent = 'Use an RSA key that you have already'
  ownKey.addEventListener('toggle', show)
  show()
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form, isPasted()).catch(() => {
      progress('That did not work: the gateway could not be reached. Try again.')
      form.querySelector('button').disabled = false
    })
  })
}

function progress(words) {
  document.querySelector('#progress').textContent = words
}

async function send(sent, isPasted) {
  sent.querySelector('button').disabled = true
  const fields = new URLSearchParams(new FormData(sent))
  let privateKey
  if (!isPasted) {
    progress('Making your key pair …')
    const pair = await crypto.subtle.generateKey(
      {
        name: 'RSASSA-PKCS1-v1_5',
        modulusLength: 2048,
        publicExponent: new Uint8Array([1, 0, 1]),
        hash: 'SHA-256',
      },
      true,
      ['sign', 'verify'],
    )
    privateKey = toBase64(await crypto.subtle.exportKey('pkcs8', pair.privateKey))
    fields.set('publicKey', toBase64(await crypto.subtle.exportKey('spki', pair.publicKey)))
  }
  const response = await fetch(sent.action, { method: 'POST', body: fields })
  const answer = new DOMParser().parseFromString(await response.text(), 'text/html')
  const main = answer.querySelector('main')
  if (!main) throw new Error('not a page')
  document.title = answer.title
  document.querySelector('main').replaceWith(main)
  if (main.querySelector('#access')) return location.reload()
  main.tabIndex = -1
  main.focus()
  if (main.querySelector('#env')) offer(main, privateKey)
}

function offer(main, privateKey) {
  const env = main.querySelector('#env')
  const acts = main.querySelector('#acts')
  if (privateKey) {
    env.textContent = env.textContent.replace(
      'TILLGATE_PRIVATE_KEY_FILE=private.pem',
      `TILLGATE_PRIVATE_KEY=${privateKey}`,
    )
    main.querySelector('#key-place').textContent =
      'The private key was made in this browser, and the gateway has never seen it: save it now.'
    acts.append(download('private.pem', toPem(privateKey)))
  }
  acts.prepend(copyButton(env))
  acts.append(download('.env', `${env.textContent}\n`))
}

function copyButton(env) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy the .env'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(`${env.textContent}\n`)
    button.textContent = 'Copied'
  })
  return button
}

function download(name, text) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  link.download = name
  link.textContent = `Download ${name}`
  return link
}

function toBase64(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
}

function toPem(base64) {
  return `-----BEGIN PRIVATE KEY-----\n${base64.match(/.{1,64}/g).join('\n')}\n-----END PRIVATE KEY-----\n`
}
