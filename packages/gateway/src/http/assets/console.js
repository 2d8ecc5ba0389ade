// Keeps a page that says data-live up to date while somebody looks at it and is not in the middle of something.
// Without this script every page works; it is then as fresh as the last load.
const everyMs = 5_000
const main = document.querySelector('main[data-live]')

const isBusy = () =>
  document.hidden ||
  // Whoever has come to something by keyboard must not lose their place.
  (document.activeElement !== main && main.contains(document.activeElement)) ||
  main.querySelector('details[open]') !== null ||
  document.getSelection()?.isCollapsed === false

async function refresh() {
  if (isBusy()) return
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  if (!response.ok || response.redirected) return
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main')
  if (!fresh || isBusy()) return
  // The sentence about what was just done stays until the person goes on.
  const note = main.querySelector('.note')
  main.replaceChildren(...(note ? [note] : []), ...fresh.childNodes)
}

if (main) {
  setInterval(() => {
    // A server that is away is asked again the next time.
    refresh().catch(() => {})
  }, everyMs)
}
