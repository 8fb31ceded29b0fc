/** A short, soft tone when something begins to wait and nobody looks. Off until a person turns it on, which a browser demands, too. */

let context: AudioContext | null = null

/** Two notes, a third of a second. */
export function playChime(): void {
  context ??= new AudioContext()
  // A browser may hold the sound back until the page has been clicked; then this one is not heard.
  void context.resume().catch(() => {})
  const at = context.currentTime
  playNote(context, 523, at)
  playNote(context, 659, at + 0.12)
}

function playNote(audio: AudioContext, frequency: number, at: number): void {
  const note = audio.createOscillator()
  const volume = audio.createGain()
  note.type = 'sine'
  note.frequency.value = frequency
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(0.08, at + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.24)
  note.connect(volume).connect(audio.destination)
  note.start(at)
  note.stop(at + 0.26)
}
