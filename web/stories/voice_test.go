package stories

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// voice is what the microphone of the browser hears: a WAV of tones that swell and fade as syllables do.
func voice() []byte {
	const rate, seconds = 16_000, 4
	samples := make([]int16, rate*seconds)
	for i := range samples {
		at := float64(i) / rate
		syllable := math.Pow(math.Sin(math.Pi*4*at), 2)
		samples[i] = int16(12_000 * syllable * (math.Sin(2*math.Pi*140*at) + 0.5*math.Sin(2*math.Pi*700*at)) / 1.5)
	}
	b := &bytes.Buffer{}
	size := uint32(2 * len(samples))
	_, _ = b.WriteString("RIFF")
	_ = binary.Write(b, binary.LittleEndian, 36+size)
	_, _ = b.WriteString("WAVEfmt ")
	_ = binary.Write(b, binary.LittleEndian, struct {
		Size             uint32
		Format, Channels uint16
		Rate, Bytes      uint32
		Block, Bits      uint16
	}{16, 1, 1, rate, 2 * rate, 2, 16})
	_, _ = b.WriteString("data")
	_ = binary.Write(b, binary.LittleEndian, size)
	_ = binary.Write(b, binary.LittleEndian, samples)
	return b.Bytes()
}

// listens plays whisper.cpp's server, and gives the settings that name it.
func listens(t testing.TB) (*modeltest.Server, string) {
	said := modeltest.Answer{
		Transcript: model.Transcript{Text: "We should move the office in May. The rent is 3000 euros.", Language: "en",
			Seconds: 2, Segments: []model.Segment{
				{Start: 0, End: 0.4, Text: "We should move the office in May."},
				{Start: 0.5, End: 2, Text: "The rent is 3000 euros."}}}}
	anew := modeltest.Answer{Transcript: model.Transcript{Text: "We should move the office in June.", Language: "en",
		Seconds: 2, Segments: []model.Segment{{End: 2, Text: "We should move the office in June."}}}}
	s := modeltest.NewServer(t, said, anew)
	return s, "transcription: {server: '" + s.BaseURL + "', formats: [webm]}\n"
}

// What is said stays in the browser until the server has it whole. The page is loaded anew in the middle of it, the
// server is away when it is to be sent and comes back, and the oracle answers all of it.
func TestVoiceComesToAnOracleThroughAReloadAndALostServer(t *testing.T) {
	whisper, hears := listens(t)
	oracle, answers := plays(t, "You say that the **rent** is high, ", "and you do not say why.")
	h := openWith(t, hears+answers)
	p := h.visit(900)
	p.forgive("net::ERR_")
	p.forgive("Failed to load resource")
	p.convenes("A first thought.")
	p.press("Record")
	p.sees("Recording, 0:02")
	p.until("a sound that is kept", p.keptSounds()+" > 0")
	p.reload()
	p.sees("was interrupted")
	h.stop()
	p.press("Add it")
	p.sees("The recording is kept in this browser")
	h.start()
	p.sees("We should move the office in May.")
	p.until("the trouble to be over", `!document.body.innerText.includes("The recording is kept in this browser")`)
	p.until("nothing that is left", `!document.body.innerText.includes("was interrupted")`)
	heard := whisper.Requests()
	assert.That(t, len(heard) == 1 && bytes.HasPrefix([]byte(heard[0].File), []byte("\x1aE\xdf\xa3")),
		"%d recordings were written down", len(heard))
	p.until("a recording that can be played", `document.querySelector("main audio")?.readyState > 0`)
	p.do("going to the second sentence by the keyboard", chromedp.Focus("main [role=group] button"),
		chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.Enter))
	p.until("the sentence that is played",
		`document.querySelector("main [role=group] [aria-current]")?.innerText.startsWith("The rent")`)
	at := evaluate[float64](p, `document.querySelector("main audio").currentTime`)
	assert.That(t, at >= 0.5, "the second sentence plays from second %v; it is said from 0.5 on", at)
	p.do("silence", chromedp.Evaluate[chromedp.Void](`document.querySelector("main audio").pause()`))
	p.checks("Skeptic")
	p.press("Ask")
	<-oracle.asked
	p.until("the first half of the answer", `document.querySelector("article .markdown strong")?.innerText === "rent"`)
	close(oracle.proceed)
	p.sees("and you do not say why.")
	kept := evaluate[int](p, p.keptSounds())
	assert.That(t, kept == 0, "%d sounds are kept though the server has the recording", kept)
	p.press("Write down anew")
	p.sees("We should move the office in June.")
	assert.That(t, !evaluate[bool](p, `document.body.innerText.includes("in May")`),
		"the earlier transcript is still shown")
}
