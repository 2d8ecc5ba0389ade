// What the documentation gains by a script: code that is copied by one tap, a search that answers while one types, and
// a mark at the section that is being read. Without it everything is there all the same.
for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(`${block.querySelector('code').textContent.trimEnd()}\n`)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  })
  // Browsers have a clipboard over https and on localhost alone.
  if (navigator.clipboard) block.append(button)
}

// One choice of language holds for all tabs of all pages.
const choose = (language) => {
  for (const tab of document.querySelectorAll('.tabs > input')) if (tab.value === language) tab.checked = true
}
choose(localStorage.getItem('language'))
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs > input')) return
  localStorage.setItem('language', target.value)
  choose(target.value)
})

const form = document.querySelector('[role=search]')
const field = form.querySelector('input')
let asking

// The slash leads to the search, as in many books of this kind.
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, textarea, select')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  field.focus()
  field.select()
})

// On the page of the search itself the answer follows the typing.
if (document.querySelector('#results')) {
  let timer
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(answer, 120)
  })
  if (field.value === '') field.focus()
}

async function answer() {
  asking?.abort()
  asking = new AbortController()
  const url = `${form.action}?${new URLSearchParams(new FormData(form))}`
  try {
    const response = await fetch(url, { signal: asking.signal })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    document.querySelector('#results').replaceChildren(...page.querySelector('#results').childNodes)
    document.title = page.title
    history.replaceState(null, '', url)
  } catch {
    // Overtaken by the next letter, or the gateway is away: the form still works.
  }
}

const links = new Map(
  [...document.querySelectorAll('.contents a')].map((link) => [decodeURIComponent(link.hash.slice(1)), link]),
)
const headings = [...document.querySelectorAll('article :is(h2, h3)')].filter(({ id }) => links.has(id))
if (headings.length > 0) {
  const mark = () => {
    const read = headings.findLast((heading) => heading.getBoundingClientRect().top < 120) ?? headings[0]
    for (const [id, link] of links) link.toggleAttribute('data-read', id === read.id)
  }
  document.addEventListener('scroll', mark, { passive: true })
  mark()
}
// A list that was opened over the page closes when it has led somewhere on it.
for (const link of links.values())
  link.addEventListener('click', () => {
    const list = document.querySelector('.contents')
    if (list.matches(':popover-open')) list.hidePopover()
  })
