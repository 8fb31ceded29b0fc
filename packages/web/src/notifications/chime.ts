/** Plays a short, soft chime for new requests. The chime is off until the person turns on sound in the user menu. */

let context: AudioContext | null = null

/** Plays two notes, about a third of a second in total. */
export function playChime(): void {
  context ??= new AudioContext()
  // Browsers may block sound until the person has clicked the page. The chime is silent until then.
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
