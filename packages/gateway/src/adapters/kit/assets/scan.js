// Reads a QR code with the camera, puts its content into a field of the same form, and sends the form.
for (const scanner of document.querySelectorAll('.scanner')) {
  if (!globalThis.BarcodeDetector || !navigator.mediaDevices) continue
  scanner.hidden = false
  const [button, video] = [scanner.querySelector('button'), scanner.querySelector('video')]
  button.addEventListener('click', () => (video.srcObject ? stop(video) : scan(scanner, video)))
}

async function scan({ dataset }, video) {
  const form = video.closest('form')
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } })
  } catch {
    // Without permission, the code is typed.
    form.elements[dataset.fills].focus()
    return
  }
  video.hidden = false
  await video.play()
  const detector = new BarcodeDetector({ formats: ['qr_code'] })
  while (video.srcObject) {
    const [code] = await detector.detect(video).catch(() => [])
    if (code) {
      stop(video)
      form.elements[dataset.fills].value = code.rawValue
      form.requestSubmit()
      return
    }
    await new Promise(requestAnimationFrame)
  }
}

function stop(video) {
  for (const track of video.srcObject.getTracks()) track.stop()
  video.srcObject = null
  video.hidden = true
}

addEventListener('pagehide', () => {
  for (const video of document.querySelectorAll('.scanner video')) if (video.srcObject) stop(video)
})
