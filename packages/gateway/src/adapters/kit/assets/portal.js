// Creates an RSA pair in the browser. The private key is never part of a request: it is offered as a file first, and
// then the public half is put into the form.
const maker = document.querySelector('#key-maker')

// Only over https and on localhost; elsewhere a key is pasted.
if (maker && globalThis.crypto?.subtle) {
  maker.hidden = false
  document.querySelector('#make-pair').addEventListener('click', make)
}

async function make({ target: button }) {
  button.disabled = true
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
  const privateKey = toPem('PRIVATE', await crypto.subtle.exportKey('pkcs8', pair.privateKey))
  const publicKey = toPem('PUBLIC', await crypto.subtle.exportKey('spki', pair.publicKey))
  const link = document.createElement('a')
  link.className = 'button primary'
  link.href = URL.createObjectURL(new Blob([privateKey], { type: 'application/octet-stream' }))
  link.download = 'private.pem'
  link.textContent = maker.dataset.save
  link.addEventListener('click', () => {
    document.querySelector('textarea[name=publicKey]').value = publicKey
  })
  button.replaceWith(link)
  document.querySelector('#key-progress').textContent = maker.dataset.saved
  link.focus()
}

function toPem(kind, bytes) {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(bytes)))
  return `-----BEGIN ${kind} KEY-----\n${base64.match(/.{1,64}/g).join('\n')}\n-----END ${kind} KEY-----\n`
}
