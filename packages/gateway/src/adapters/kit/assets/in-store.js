// Shows a new code before the old one ends, and what codes paid or ask. A tab in the background rests.
const codeMs = 45_000
const paymentsMs = 2_000

async function renew(path, id) {
  try {
    const response = await fetch(path)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const [before, after] = [document.getElementById(id), page.getElementById(id)]
    // Signed out: the page leads to the sign-in.
    if (response.ok && !after) return location.reload()
    if (!after || before.innerHTML === after.innerHTML) return false
    before.innerHTML = after.innerHTML
    return true
  } catch {
    return false
  }
}

let shownAt = Date.now()

async function renewCode() {
  if (await renew('/wallet/in-store', 'pay-code')) shownAt = Date.now()
}

async function look() {
  if (document.visibilityState !== 'visible') return
  const hasNews = await renew('/wallet/in-store/payments', 'payments')
  if (hasNews || Date.now() - shownAt > codeMs) await renewCode()
}

setInterval(look, paymentsMs)
document.addEventListener('visibilitychange', look)
