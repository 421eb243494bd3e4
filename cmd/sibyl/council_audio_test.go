package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/council/session"
)

// uploaded is what a transcriber was sent.
type uploaded struct {
	path, key, name string
	fields          map[string]string
	content         []byte
}

// dictaphone is a server of both protocols, as OpenAI's and whisper.cpp's, which says what write says is in an upload.
// An error is a status.
type dictaphone struct {
	*httptest.Server
	write func(u uploaded, n int) (text string, status int)
	after func(n int) string // what an error asks for in Retry-After; nil: nothing

	mu  sync.Mutex
	got []uploaded
}

func newDictaphone(t *testing.T, write func(u uploaded, n int) (string, int)) *dictaphone {
	t.Helper()
	d := &dictaphone{write: write}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *dictaphone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u := uploaded{path: r.URL.Path, key: r.Header.Get("Authorization"), fields: map[string]string{}}
	in, err := r.MultipartReader()
	for err == nil {
		part, next := in.NextPart()
		if next == io.EOF {
			break
		}
		if err = next; err != nil {
			break
		}
		var content []byte
		content, err = io.ReadAll(part)
		if part.FormName() == "file" {
			u.name, u.content = part.FileName(), content
		} else {
			u.fields[part.FormName()] = string(content)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	d.got = append(d.got, u)
	n := len(d.got)
	d.mu.Unlock()
	text, status := d.write(u, n)
	if status != 0 {
		if d.after != nil {
			w.Header().Set("Retry-After", d.after(n))
		}
		http.Error(w, `{"error":{"message":"`+text+`"}}`, status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	reply := map[string]any{"text": text, "language": "english", "duration": 2.5,
		"segments": []any{map[string]any{"id": 0, "start": 0.0, "end": 2.4, "text": text, "no_speech_prob": 0.01}}}
	if err := json.NewEncoder(w).Encode(reply); err != nil {
		panic(err)
	}
}

// uploads are those that have come.
func (d *dictaphone) uploads() []uploaded {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.got)
}

// set writes the settings of a story.
func (s *story) set(t *testing.T, settings string) {
	t.Helper()
	write(t, s.settingsFile(), settings)
}

// council runs a command of the Council with --json, and gives what it prints.
func (s *story) council(t *testing.T, code int, into any, args ...string) outcome {
	t.Helper()
	o := s.run(t, "", code, append(append([]string{"council"}, args...), "--json"))
	if into != nil {
		err := json.Unmarshal([]byte(o.out), into)
		assert.Require(t, err == nil, "sibyl council %s: %v in %q\n%s", strings.Join(args, " "), err, o.out, o.err)
	}
	return o
}

// sessions are those that there are, with what they hold.
func (s *story) sessions(t *testing.T) (all []session.Session) {
	t.Helper()
	s.council(t, 0, &all, "list")
	return all
}

// heard is the transcript of an entry of the only session.
func (s *story) heard(t *testing.T, sequence int) string {
	t.Helper()
	var x struct {
		Entries []struct {
			ID, Text string
		}
	}
	s.council(t, 0, &x, "show")
	for _, e := range x.Entries {
		if e.ID == fmt.Sprintf("t%d", sequence) {
			return e.Text
		}
	}
	t.Fatalf("there is no transcript %d", sequence)
	return ""
}

// forms are the endings that a recording may have.
func forms() []string { return []string{"ogg", "webm", "mp3", "m4a", "flac", "wav"} }

// recorded is speech in each of the forms, by its ending.
func recorded(t *testing.T, folder string) map[string]string {
	t.Helper()
	wav := filepath.Join(folder, "memo.wav")
	assert.NoError(t, speak(wav, spokenWords))
	all := map[string]string{}
	for _, form := range forms() {
		all[form] = filepath.Join(folder, "memo."+form)
		if form == "wav" {
			continue
		}
		assert.NoError(t, remake(wav, all[form], codecs["."+form]...))
	}
	return all
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content := assert.Must(os.ReadFile(file))(t)
	return content
}

// TestRecordingOfEveryFormReachesAnEndpointOfOpenAIsProtocolAsItIs has one of each form added, and looks at what the
// endpoint got.
func TestRecordingOfEveryFormReachesAnEndpointOfOpenAIsProtocolAsItIs(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s, folder := newStory(t), t.TempDir()
	d := newDictaphone(t, func(_ uploaded, n int) (string, int) {
		return fmt.Sprintf(" Tomorrow, for the %d. time.", n), 0
	})
	s.set(t, fmt.Sprintf("transcription: {model: 'house:whisper-1'}\nproviders:\n  house: {base_url: %q, "+
		"key_command: [echo, canary-key-123456]}\n", d.URL+"/v1"))
	files := recorded(t, folder)
	args := []string{"council", "add", "--new"}
	for _, form := range forms() {
		args = append(args, files[form])
	}
	o := s.run(t, "", 0, args)
	assert.That(t, strings.Contains(o.out, "recording 6: 5 words"), "it says %s%s", o.out, o.err)
	assert.That(t, !strings.Contains(o.out+o.err, "canary"), "the key is shown")
	got := d.uploads()
	assert.Require(t, len(got) == len(forms()), "%d uploads", len(got))
	for i, form := range forms() {
		u := got[i]
		assert.That(t, u.path == "/v1/audio/transcriptions" && u.key == "Bearer canary-key-123456" &&
			filepath.Ext(u.name) == "."+form && !strings.Contains(u.name, "memo"),
			"%s: sent to %s as %q with the key %q", form, u.path, u.name, u.key)
		assert.That(t, bytes.Equal(u.content, read(t, files[form])),
			"%s: %d bytes were sent, and they are not those of the file", form, len(u.content))
		assert.That(t, u.fields["model"] == "whisper-1" && u.fields["response_format"] == "verbose_json",
			"%s: the fields are %v", form, u.fields)
	}
	m := s.sessions(t)[0]
	assert.Require(t, m.State == session.Transcribed && len(m.Audio) == len(forms()),
		"the session is %s with %d entries", m.State, len(m.Audio))
	for i, e := range m.Audio {
		assert.That(t, e.Status == session.Success && e.By == "house:whisper-1" && e.Heard == "en" &&
			strings.HasSuffix(e.File, "."+forms()[i]), "entry %d: %+v", i+1, e)
		assert.That(t, e.Seconds != nil && math.Abs(*e.Seconds-2.3) <= 0.7,
			"%s: its length is not known: %v", e.File, e.Seconds)
	}
	assert.Equalf(t, s.heard(t, 6), "Tomorrow, for the 6. time.", "transcript 6")
}

// plainWAV is the rate, the channels and the seconds of a WAV file.
func plainWAV(t *testing.T, content []byte) (rate, channels int, seconds float64) {
	t.Helper()
	assert.Require(t, len(content) >= 44 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WAVE",
		"no WAV file was sent, but %q…", content[:min(len(content), 16)])
	for at := 12; at+8 <= len(content); {
		size := int(binary.LittleEndian.Uint32(content[at+4:]))
		switch string(content[at : at+4]) {
		case "fmt ":
			channels, rate = int(binary.LittleEndian.Uint16(content[at+10:])),
				int(binary.LittleEndian.Uint32(content[at+12:]))
		case "data":
			size = min(size, len(content)-at-8)
			return rate, channels, float64(size) / float64(2*channels*rate)
		}
		at += 8 + size + size%2
	}
	t.Fatal("the WAV file has no sound")
	return 0, 0, 0
}

// loudness is how loud each twentieth of a second of a WAV file is: by it sounds are known, whatever codec they went
// through.
func loudness(t *testing.T, content []byte) (all []float64) {
	t.Helper()
	rate, channels, _ := plainWAV(t, content)
	sound := content[bytes.Index(content, []byte("data"))+8:]
	for part := range slices.Chunk(sound, 2*channels*rate/20) {
		var sum float64
		for at := 0; at+1 < len(part); at += 2 {
			level := float64(int16(binary.LittleEndian.Uint16(part[at:])))
			sum += level * level
		}
		all = append(all, math.Sqrt(sum/float64(len(part)/2)))
	}
	return all
}

// resemblance is 1 for sounds that are loud at the same times, and about 0 for any two. A codec may begin up to a tenth
// of a second later.
func resemblance(a, b []float64) (most float64) {
	for late := -2; late <= 2; late++ {
		x, y := a[max(0, late):], b[max(0, -late):]
		n := min(len(x), len(y))
		var sumX, sumY, xx, yy, xy float64
		for i := range n {
			sumX, sumY = sumX+x[i], sumY+y[i]
			xx, yy, xy = xx+x[i]*x[i], yy+y[i]*y[i], xy+x[i]*y[i]
		}
		spread := math.Sqrt((float64(n)*xx - sumX*sumX) * (float64(n)*yy - sumY*sumY))
		most = max(most, (float64(n)*xy-sumX*sumY)/spread)
	}
	return most
}

// TestWhisperServerHearsEveryFormAsPlainWAV has a server like whisper.cpp's, which can read nothing else, get a
// recording in each form.
func TestWhisperServerHearsEveryFormAsPlainWAV(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s, folder := newStory(t), t.TempDir()
	d := newDictaphone(t, func(_ uploaded, n int) (string, int) { return fmt.Sprintf("Recording %d.", n), 0 })
	s.set(t, fmt.Sprintf("transcription: {server: %q, language: en}\n", d.URL))
	files := recorded(t, folder)
	args := []string{"council", "add", "--new"}
	for _, form := range forms() {
		args = append(args, files[form])
	}
	s.run(t, "", 0, args)
	spoken := loudness(t, read(t, files["wav"]))
	backwards := slices.Clone(spoken)
	slices.Reverse(backwards)
	like := resemblance(spoken, backwards)
	assert.Require(t, like <= 0.8, "said backwards it resembles itself by %.2f: nothing is proven", like)
	for i, u := range d.uploads() {
		rate, channels, seconds := plainWAV(t, u.content)
		assert.That(t, u.path == "/inference" && rate == 16000 && channels == 1 && math.Abs(seconds-2.3) <= 0.7 &&
			u.fields["language"] == "en" && u.fields["response_format"] == "verbose_json",
			"%s: sent to %s with %v: %d Hz, %d channels, %.2f s", forms()[i], u.path, u.fields, rate, channels, seconds)
		like := resemblance(spoken, loudness(t, u.content))
		assert.That(t, like >= 0.95, "%s: what was sent resembles what was said by %.2f", forms()[i], like)
	}
	for i := range forms() {
		text := s.heard(t, i+1)
		assert.That(t, text == fmt.Sprintf("Recording %d.", i+1), "recording %d is written down as %q", i+1, text)
	}
}

// loop writes a WAV file of so many seconds, in which the sound of another one is repeated.
func loop(t *testing.T, from, to string, seconds int) {
	t.Helper()
	content := read(t, from)
	rate, channels, _ := plainWAV(t, content)
	assert.Require(t, rate == 16000 && channels == 1, "flite speaks with %d Hz in %d channels", rate, channels)
	sound := content[bytes.Index(content, []byte("data"))+8:]
	size := 2 * rate * seconds
	head := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(36+size))...)
	head = append(head, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data"...)
	head = binary.LittleEndian.AppendUint32(head, uint32(size))
	whole := bytes.Repeat(sound, size/len(sound)+1)[:size]
	write(t, to, string(append(head, whole...)))
}

// TestHalfAnHourIsWrittenDownInParts has a recording of half an hour transcribed by a server of this machine, which
// gets it in parts, and by a hosted model, which gets what is under its limit.
func TestHalfAnHourIsWrittenDownInParts(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s, folder := newStory(t), t.TempDir()
	short, long := filepath.Join(folder, "short.wav"), filepath.Join(folder, "long.wav")
	assert.NoError(t, speak(short, spokenWords))
	loop(t, short, long, 1800)
	d := newDictaphone(t, func(_ uploaded, n int) (string, int) { return fmt.Sprintf("This is part %d of all.", n), 0 })
	s.set(t, fmt.Sprintf("transcription: {server: %q}\n", d.URL))
	o := s.run(t, "", 0, []string{"council", "add", "--new", long})
	var all float64
	for _, u := range d.uploads() {
		_, _, seconds := plainWAV(t, u.content)
		all += seconds
		assert.That(t, seconds <= 600.01, "a part has %.1f s", seconds)
	}
	assert.That(t, math.Abs(all-1800) <= 0.1, "the parts have %.1f s in all", all)
	text, last := s.heard(t, 1), -1
	for n := range d.uploads() {
		at := strings.Index(text, fmt.Sprintf("This is part %d of all.", n+1))
		assert.That(t, at > last, "part %d is missing, or not in its place: %q\n%s", n+1, text, o.err)
		last = at
	}
	e := s.sessions(t)[0].Audio[0]
	assert.That(t, e.Seconds != nil && math.Abs(*e.Seconds-1800) <= 0.1 && e.Status == session.Success, "%+v", e)
	before := len(d.uploads())
	s.set(t, fmt.Sprintf("transcription: {model: 'cloud:whisper-1'}\nproviders:\n  cloud: {base_url: %q, local: "+
		"false, key_command: [echo, canary-key-123456]}\n", d.URL+"/v1"))
	large := filepath.Join(folder, "large.wav")
	loop(t, short, large, 840) // 27 MB
	s.run(t, "", 0, []string{"council", "add", "--new", large})
	for _, u := range d.uploads()[before:] {
		assert.That(t, len(u.content) <= 25<<20 && filepath.Ext(u.name) == ".flac" && string(u.content[:4]) == "fLaC",
			"%d bytes were sent as %s", len(u.content), u.name)
	}
	n := len(d.uploads()) - before
	assert.That(t, n == 1, "it was sent in %d parts", n)
}

// TestSilenceIsSentToNobody has a file without a sound in it added.
func TestSilenceIsSentToNobody(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s, folder := newStory(t), t.TempDir()
	silence := filepath.Join(folder, "silence.ogg")
	assert.NoError(t, exec.Command("ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono",
		"-t", "4", "-c:a", "libopus", silence).Run())
	d := newDictaphone(t, func(uploaded, int) (string, int) { return "Thanks for watching!", 0 })
	s.set(t, fmt.Sprintf("transcription: {server: %q}\n", d.URL))
	s.run(t, "", 0, []string{"council", "add", silence})
	n := len(d.uploads())
	assert.That(t, n == 0, "silence was sent %d times", n)
	e := s.sessions(t)[0].Audio[0]
	assert.That(t, e.Silent && e.Status == session.Success && len(e.Flags) == 1 && e.Flags[0].Kind == "silence" &&
		s.heard(t, 1) == "", "%+v", e)
	o := s.run(t, "", 0, []string{"council", "show"})
	assert.That(t, strings.Contains(o.out, "silence"), "it shows %s", o.out)
}

// TestWhatIsLeftOfARecordingThatBrokeOffIsWrittenDown has files that end in the middle added, of each form that can be
// heard without its end.
func TestWhatIsLeftOfARecordingThatBrokeOffIsWrittenDown(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s, folder := newStory(t), t.TempDir()
	d := newDictaphone(t, func(uploaded, int) (string, int) { return "Tomorrow we will…", 0 })
	s.set(t, fmt.Sprintf("transcription: {server: %q}\n", d.URL))
	files := recorded(t, folder)
	kept := 0
	for _, form := range []string{"ogg", "webm", "mp3", "flac", "wav"} {
		whole := read(t, files[form])
		cut := filepath.Join(folder, "cut."+form)
		write(t, cut, string(whole[:len(whole)*6/10]))
		o := s.run(t, "", 0, []string{"council", "add", cut})
		kept++
		e := s.sessions(t)[0].Audio[kept-1]
		assert.That(t, e.Status == session.Success &&
			bytes.Equal(read(t, filepath.Join(s.data, "sessions", s.sessions(t)[0].ID, "audio", e.File)),
				whole[:len(whole)*6/10]), "%s: %+v\n%s", form, e, o.err)
	}
	for i, u := range d.uploads() {
		_, _, seconds := plainWAV(t, u.content)
		assert.That(t, seconds >= 0.5 && seconds <= 2.2, "upload %d has %.2f s", i+1, seconds)
	}
}

// TestWhatCannotBeHeardIsRefusedByName has files added that are no audio. Nothing of them is kept, and no session
// begins with them.
func TestWhatCannotBeHeardIsRefusedByName(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s, folder := newStory(t), t.TempDir()
	picture := filepath.Join(folder, "picture.mp4")
	assert.NoError(t, exec.Command("ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=size=64x64:rate=5",
		"-t", "1", picture).Run())
	files := recorded(t, folder)
	for name, content := range map[string][]byte{
		"junk.ogg":     []byte(strings.Repeat("no audio at all\n", 200)),
		"head.ogg":     read(t, files["ogg"])[:20],
		"head.wav":     read(t, files["wav"])[:44],
		"page.mp3":     []byte("<!DOCTYPE html><html><body>Not found</body></html>"),
		"picture.webm": read(t, picture),
		"binary.txt":   {0, 1, 2, 3, 0, 0xff, 0xfe},
	} {
		file := filepath.Join(folder, name)
		write(t, file, string(content))
		s.run(t, "", cli.ExitUsage, []string{"council", "add", file}, "“"+name+"”")
	}
	left, err := filepath.Glob(filepath.Join(s.data, "sessions", "*", "audio", "*"))
	all := s.sessions(t)
	assert.That(t, err == nil && len(all) == 0 && len(left) == 0, "there are %d sessions and %v, %v", len(all), left, err)
}

// TestRecordingThatFailsIsKeptAndTriedAgain has a server refuse a recording.
func TestRecordingThatFailsIsKeptAndTriedAgain(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s, folder := newStory(t), t.TempDir()
	var broken sync.Map
	broken.Store("now", true)
	d := newDictaphone(t, func(uploaded, int) (string, int) {
		if _, is := broken.Load("now"); is {
			return "failed to read audio data", http.StatusBadRequest
		}
		return "Tomorrow.", 0
	})
	s.set(t, fmt.Sprintf("transcription: {server: %q}\n", d.URL))
	wav := filepath.Join(folder, "memo.wav")
	assert.NoError(t, speak(wav, spokenWords))
	o := s.run(t, "", cli.ExitPartial, []string{"council", "add", wav},
		"Could not write down recording 1, which is kept", "failed to read audio data")
	n := strings.Count(o.err, "failed to read audio data")
	assert.That(t, n == 1, "the failure is told %d times: %s", n, o.err)
	m := s.sessions(t)[0]
	if e := m.Audio[0]; m.State != session.Failed || e.Status != session.Failure ||
		!strings.Contains(e.Error, "failed to read audio data") || strings.Contains(o.err, folder) {
		t.Errorf("the session is %s: %+v", m.State, e)
	}
	o = s.run(t, "", 0, []string{"council", "transcribe"})
	want := "1 recording could not be transcribed: ‘sibyl council transcribe --again " + m.ID
	assert.That(t, strings.Contains(o.out, want), "it says %q", o.out)
	n = len(d.uploads())
	assert.That(t, n == 1, "it was sent %d times without being asked for", n)
	broken.Delete("now")
	s.run(t, "", 0, []string{"council", "transcribe", "--again"})
	if m := s.sessions(t)[0]; m.State != session.Transcribed || s.heard(t, 1) != "Tomorrow." {
		t.Errorf("the session is %s: %+v", m.State, m.Audio)
	}
}

// TestTranscriptionThatWaitsSaysForWhatAndForHowLong has a server ask for patience twice, and then for more than is
// waited for.
func TestTranscriptionThatWaitsSaysForWhatAndForHowLong(t *testing.T) {
	needs.Program(t, "flite", "ffmpeg")
	t.Parallel()
	s := newStory(t)
	asked := map[int]string{1: "1", 2: "0"}
	d := newDictaphone(t, func(_ uploaded, n int) (string, int) {
		switch n {
		case 1:
			return "slow down", http.StatusTooManyRequests
		case 2:
			return "the model is loading", http.StatusInternalServerError
		case 3:
			return "Tomorrow.", 0
		}
		return "come back tomorrow", http.StatusTooManyRequests
	})
	d.after = func(n int) string { return cmp.Or(asked[n], "3600") }
	s.set(t, fmt.Sprintf("transcription: {server: %q}\n", d.URL))
	wav := filepath.Join(t.TempDir(), "memo.wav")
	assert.NoError(t, speak(wav, spokenWords))
	o := s.run(t, "", 0, []string{"council", "add", wav}, "too many requests", "the provider failed")
	waits := regexp.MustCompile(`(?m)^· asking again in ([0-9]+) s: \S+: `).FindAllStringSubmatch(o.err, -1)
	if len(waits) != 2 || waits[0][1] == "0" || s.heard(t, 1) != "Tomorrow." {
		t.Errorf("it tells %d pauses, and keeps %q:\n%s", len(waits), s.heard(t, 1), o.err)
	}
	other := filepath.Join(t.TempDir(), "other.wav")
	assert.NoError(t, speak(other, "The rent is too high."))
	o = s.run(t, "", cli.ExitPartial, []string{"council", "add", other}, "which is kept")
	n := strings.Count(o.err, "come back tomorrow")
	assert.That(t, n == 1 && !strings.Contains(o.err, "asking again") &&
		strings.Contains(o.err, "too many requests (HTTP 429)"), "the failure is told %d times:\n%s", n, o.err)
	o = s.run(t, "", cli.ExitPartial, []string{"council", "transcribe", "--again"})
	n = strings.Count(o.out+o.err, "come back tomorrow")
	assert.That(t, n == 1, "another failure is told %d times:\n%s%s", n, o.out, o.err)
}
