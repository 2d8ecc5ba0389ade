// Creates the RSA pair in the browser. The private key is never part of a request: it stays in this page, beside the
// gateway's response.
let made

// Only over https and on localhost; elsewhere the form takes a pasted key.
if (globalThis.crypto?.subtle) takeOver()

function takeOver() {
  const form = document.querySelector('#access')
  if (!form) return
  const ownKey = form.querySelector('#own-key')
  const publicKey = form.querySelector('#publicKey')
  const show = () => {
    publicKey.required = ownKey.open
    form.querySelector('#in-browser').hidden = ownKey.open
  }
  // The form was rejected for another reason, so the pair is still valid.
  if (publicKey.value === made?.publicKey) publicKey.value = ''
  ownKey.open = publicKey.value.trim() !== ''
  ownKey.querySelector('summary').textContent = 'Use an existing RSA key'
  ownKey.addEventListener('toggle', show)
  show()
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form, { isPasted: ownKey.open }).catch(() => {
      progress('That did not work: the gateway could not be reached. Try again.')
      form.querySelector('button').disabled = false
    })
  })
}

function progress(words) {
  document.querySelector('#progress').textContent = words
}

async function send(form, { isPasted }) {
  form.querySelector('button').disabled = true
  const fields = new URLSearchParams(new FormData(form))
  if (!isPasted) {
    progress('Making your key pair …')
    made ??= await makePair()
    fields.set('publicKey', made.publicKey)
  }
  const response = await fetch(form.action, { method: 'POST', body: fields })
  const answer = new DOMParser().parseFromString(await response.text(), 'text/html')
  const main = answer.querySelector('main')
  if (!main) throw new Error('not a page')
  document.title = answer.title
  document.querySelector('main').replaceWith(main)
  takeOver()
  if (main.querySelector('#env')) offer(main, isPasted ? undefined : made.privateKey)
  const first = main.querySelector('[autofocus]') ?? main.querySelector('h1')
  if (first.localName === 'h1') first.tabIndex = -1
  first.focus()
}

async function makePair() {
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
  return {
    privateKey: toBase64(await crypto.subtle.exportKey('pkcs8', pair.privateKey)),
    publicKey: toBase64(await crypto.subtle.exportKey('spki', pair.publicKey)),
  }
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
      'The private key was made in this browser, and the gateway has never seen it.'
    acts.append(download('private.pem', toPem(privateKey)))
    acts.append(playgroundLink(acts.dataset.playground, env))
  }
  acts.prepend(download('.env', `${env.textContent}\n`), copyButton(env))
  acts.firstChild.classList.add('primary-link')
  main.querySelector('#env-file').open = false
  const hint = document.createElement('p')
  hint.className = 'quiet'
  hint.textContent = 'Your browser may save the file as “env”. Rename it to .env.'
  acts.after(hint)
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

/** Hands the keys to the playground in this tab when the link is followed. */
function playgroundLink(path, env) {
  const link = linkTo(path, 'Try them in the playground')
  link.addEventListener('click', () => sessionStorage.setItem('tillgate-credentials', env.textContent))
  return link
}

function download(name, text) {
  const blob = new Blob([text], { type: 'application/octet-stream' })
  const link = linkTo(URL.createObjectURL(blob), `Download ${name}`)
  link.download = name
  return link
}

function linkTo(href, words) {
  const link = document.createElement('a')
  link.className = 'button'
  link.href = href
  link.textContent = words
  return link
}

function toBase64(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
}

function toPem(base64) {
  return `-----BEGIN PRIVATE KEY-----\n${base64.match(/.{1,64}/g).join('\n')}\n-----END PRIVATE KEY-----\n`
}
