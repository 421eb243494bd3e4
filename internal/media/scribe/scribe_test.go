package scribe_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/audio"
	"sibyl/internal/media/scribe"
	"sibyl/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFileThatIsTakenIsSentAsItIs(t *testing.T) {
	p := newPlayer(model.Transcript{Text: " Olá,\nmundo. ", Language: "portuguese"})
	s := newScribe(t, scribe.Config{Transcriber: p, Limits: scribe.HostedLimits(), Audio: &room{}, Language: "pt-BR"})
	got, err := s.Transcribe(t.Context(), file(t, "ogg", 12, false), scribe.Spoken{}, scribe.Listener{})
	diff := cmp.Diff(scribe.Transcript{Text: "Olá, mundo.", Language: "pt", By: "house:whisper", Seconds: 12},
		got)
	assert.That(t, err == nil && diff == "", "%v (-want +got):\n%s", err, diff)
	want := (heard{"audio.ogg", "pt", "ogg 12 false", 48_000})
	assert.That(t, p.calls[0] == want, "sent %+v; want %+v", p.calls[0], want)
}

func TestLanguageOfTheSessionWins(t *testing.T) {
	p := newPlayer(model.Transcript{Text: "hallo"}, model.Transcript{Text: "hallo", Language: "klingon"},
		model.Transcript{})
	s := newScribe(t, scribe.Config{Transcriber: p, Audio: &room{}, Language: "pt"})
	for _, want := range []string{"de", "klingon", ""} {
		got, err := s.Transcribe(t.Context(), file(t, "ogg", 1, false), scribe.Spoken{Language: "de"}, scribe.Listener{})
		assert.That(t, err == nil && got.Language == want, "got %+v, %v; want language %q", got, err, want)
	}
	assert.That(t, p.calls[0].language == "de", "asked in %q", p.calls[0].language)
}

func TestWithoutATranscriberItSaysWhatWouldHelp(t *testing.T) {
	s := newScribe(t, scribe.Config{Audio: &room{}, Offers: []string{"whisper-cli, to be used so"}})
	assert.Contains(t, "what is missing", s.Missing(),
		"transcription.model", "transcription.server", "transcription.command",
		"this machine has whisper-cli, to be used so")
	_, err := s.Transcribe(t.Context(), file(t, "ogg", 1, false), scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, s.Missing())
	s = newScribe(t, scribe.Config{Audio: &room{}, Problem: "set GROQ_KEY"})
	assert.That(t, s.Missing() == "set GROQ_KEY", "it says %s", s.Missing())
	s = newScribe(t, scribe.Config{Audio: &room{}, Transcriber: newPlayer()})
	assert.That(t, s.Missing() == "", "it says %s", s.Missing())
}

func TestFormatThatIsNotTakenIsConverted(t *testing.T) {
	for name, c := range map[string]struct {
		limits  scribe.Limits
		format  string
		seconds float64
		want    string // the name that is sent
	}{
		"to WAV":           {scribe.WhisperLimits(), "m4a", 60, "audio.wav"},
		"WAV to plain WAV": {scribe.WhisperLimits(), "wav", 60, "audio.wav"},
		"to what fits":     {scribe.HostedLimits().WithFormats([]string{"wav", "ogg"}), "m4a", 1200, "audio.ogg"},
		"of unknown length": {scribe.HostedLimits().WithFormats([]string{"wav", "flac", "ogg"}), "mp3", 1500,
			"audio.ogg"},
		"too large in its own format": {scribe.HostedLimits(), "wav", 1200, "audio.ogg"},
	} {
		r, p := &room{programs: true}, newPlayer(model.Transcript{Text: "hi"})
		s := newScribe(t, scribe.Config{Transcriber: p, Limits: c.limits, Audio: r})
		if got, err := s.Transcribe(t.Context(), file(t, c.format, c.seconds, false), scribe.Spoken{},
			scribe.Listener{}); err != nil || got.Text != "hi" {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if sent := p.calls[0]; sent.name != c.want || sent.size > model.MaxAudio || len(r.converted) == 0 {
			t.Errorf("%s: sent %+v, converted to %v; want %s", name, sent, r.converted, c.want)
		}
	}
}

func TestWithoutProgramsWhatCanBeSentIsAndTheRestIsRefused(t *testing.T) {
	p := newPlayer(model.Transcript{Text: "a"}, model.Transcript{Text: "b"}, model.Transcript{Text: "c"})
	s := newScribe(t, scribe.Config{Transcriber: p, Limits: scribe.WhisperLimits(), Audio: &room{}})
	if got, err := s.Transcribe(t.Context(), file(t, "wav", 60, false), scribe.Spoken{}, scribe.Listener{}); err != nil ||
		got.Text != "a" {
		t.Errorf("WAV of another rate: %+v, %v", got, err)
	}
	_, err := s.Transcribe(t.Context(), file(t, "m4a", 60, false), scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, "house:whisper: it takes wav, and not m4a", "ffmpeg", "transcription.formats")
	got, err := s.Transcribe(t.Context(), file(t, "wav", 1000, false), scribe.Spoken{}, scribe.Listener{})
	assert.That(t, err == nil && got.Text == "b c", "long WAV: %+v, %v", got, err)
	wantEqual(t, "sent", p.names(), []string{"audio.wav", "audio.wav", "audio.wav"})

	p = newPlayer(model.Transcript{Text: "a"})
	long := scribe.Limits{Seconds: 600}
	s = newScribe(t, scribe.Config{Transcriber: p, Limits: long, Audio: &room{}})
	got, err = s.Transcribe(t.Context(), file(t, "ogg", 1000, false), scribe.Spoken{}, scribe.Listener{})
	assert.That(t, err == nil && got.Text == "a", "long, but not large: %+v, %v", got, err)
	_, err = s.Transcribe(t.Context(), file(t, "m4a", 2000, false), scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, "it takes 25 MB or 10m0s at once, and this is 31 MB", "ffmpeg")
	_, err = s.Transcribe(t.Context(), file(t, "mp3", 2000, false), scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, "ffprobe")
}

func TestOnlyFormatsThatCannotBeMadeAreRefused(t *testing.T) {
	s := newScribe(t, scribe.Config{Transcriber: newPlayer(), Limits: scribe.HostedLimits().WithFormats([]string{"mp3"}),
		Audio: &room{programs: true}})
	_, err := s.Transcribe(t.Context(), file(t, "m4a", 60, false), scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, "it takes mp3, and not m4a", "transcription.formats")
}

func TestWhatIsNoAudioIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ogg")
	assert.NoError(t, os.WriteFile(path, []byte("hello"), 0o600))
	s := newScribe(t, scribe.Config{Transcriber: newPlayer(), Audio: &room{}})
	_, err := s.Transcribe(t.Context(), path, scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, "a.ogg is no audio")
	_, err = s.Transcribe(t.Context(), path+".gone", scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, "can't be read")
}

func TestSilenceIsNotSent(t *testing.T) {
	p := newPlayer()
	s := newScribe(t, scribe.Config{Transcriber: p, Audio: &room{}})
	got, err := s.Transcribe(t.Context(), file(t, "wav", 9, true), scribe.Spoken{Language: "pt"}, scribe.Listener{})
	want := scribe.Transcript{Seconds: 9, Flags: []scribe.Flag{{Kind: scribe.Silence, End: 9}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || len(p.calls) != 0 {
		t.Errorf("%v after %d calls (-want +got):\n%s", err, len(p.calls), diff)
	}
}

// An hour of WAV goes in parts of ten minutes, of which the room makes every third silent.
func TestPartsAreJoinedWithTheirTimes(t *testing.T) {
	segment := func(start, end float64, text string, noSpeech float64) model.Segment {
		return model.Segment{Start: start, End: end, Text: text, NoSpeech: noSpeech}
	}
	part := func(segments ...model.Segment) model.Transcript {
		t := model.Transcript{Language: "english", Segments: segments}
		for _, s := range segments {
			t.Text += " " + s.Text
		}
		return t
	}
	p := newPlayer(
		part(segment(0, 2, "One.", 0), segment(2.5, 4, "Two.", 0), segment(9, 599.5, strings.Repeat("Three, ", 300)+
			"and so on.", 0)),
		part(segment(0.5, 2, "Right after.", 0), segment(5, 7, "Was that all?", 0.9)),
		part(segment(0, 3, "After silence.", 0)),
		part(segment(30, 33, "Later.", 0)),
	)
	s := newScribe(t, scribe.Config{Transcriber: p, Limits: scribe.WhisperLimits(), Audio: &room{}})
	var seen []string
	got := assert.Must(s.Transcribe(t.Context(), file(t, "wav", 3500, false), scribe.Spoken{Language: "en"},
		scribe.Listener{Progress: func(done, of int) { seen = append(seen, fmt.Sprintf("%d/%d", done, of)) }}))(t)
	text := "One. Two.\n\n" + strings.Repeat("Three, ", 300) +
		"and so on. Right after.\n\nWas that all?\n\nAfter silence.\n\nLater."
	want := scribe.Transcript{Text: text, Language: "en", By: "house:whisper", Seconds: 3500, Flags: []scribe.Flag{
		{Kind: scribe.LowConfidence, Text: "Was that all?", Start: 605, End: 607},
		{Kind: scribe.Silence, Start: 1200, End: 1800},
		{Kind: scribe.Silence, Start: 3000, End: 3500},
	}}
	for _, one := range []struct {
		begins  string
		seconds float64
	}{{"One.", 0}, {"Two.", 2.5}, {"Three,", 9}, {"Right", 600.5}, {"Was", 605}, {"After", 1800}, {"Later.", 2430}} {
		want.Times = append(want.Times, scribe.Time{At: strings.Index(text, one.begins), Seconds: one.seconds})
	}
	assert.Same(t, want, got)
	wantEqual(t, "progress", seen, []string{"0/6", "1/6", "2/6", "3/6", "4/6", "5/6", "6/6"})
}

func TestOnlyThePartThatFailedIsSentAgain(t *testing.T) {
	path := file(t, "wav", 1500, false)
	synctest.Test(t, func(t *testing.T) {
		p := &player{}
		p.part = func(_ context.Context, call int) (model.Transcript, error) {
			switch call {
			case 2:
				return model.Transcript{}, &model.Error{Kind: model.RateLimit, RetryAfter: 17 * time.Second}
			case 3:
				return model.Transcript{}, &model.Error{Kind: model.Server}
			}
			return model.Transcript{Text: fmt.Sprint("said ", call)}, nil
		}
		begin := time.Now()
		got, err := newScribe(t, scribe.Config{Transcriber: p, Limits: scribe.WhisperLimits(), Audio: &room{}}).
			Transcribe(t.Context(), path, scribe.Spoken{}, scribe.Listener{})
		assert.That(t, err == nil && got.Text == "said 1 said 4", "got %+v, %v", got, err)
		took := time.Since(begin)
		assert.That(t, took >= 17*time.Second && took <= 18*time.Second, "it took %v", took)
		for i, c := range p.calls[1:] {
			assert.That(t, c == p.calls[1], "attempt %d sent %+v; want %+v", i, c, p.calls[1])
		}
	})
}

func TestFailureKeepsItsKindAndNamesItsPart(t *testing.T) {
	path := file(t, "wav", 1500, false)
	synctest.Test(t, func(t *testing.T) {
		for kind, calls := range map[model.Kind]int{model.Auth: 2, model.Server: 4, model.Garbled: 2,
			model.Payment: 2} {
			p := &player{part: func(_ context.Context, call int) (model.Transcript, error) {
				if call == 1 {
					return model.Transcript{Text: "fine"}, nil
				}
				return model.Transcript{}, &model.Error{Kind: kind, Model: "house:whisper", Err: errors.New("no")}
			}}
			_, err := newScribe(t, scribe.Config{Transcriber: p, Limits: scribe.WhisperLimits(), Audio: &room{}}).
				Transcribe(t.Context(), path, scribe.Spoken{}, scribe.Listener{})
			want := (&model.Error{Kind: kind, Model: "house:whisper", Err: errors.New("part 2 of 3: no")}).Error()
			assert.That(t, model.KindOf(err) == kind && err.Error() == want && len(p.calls) == calls,
				"%v after %d calls; want %s after %d", err, len(p.calls), want, calls)
		}
	})
}

func TestCancellingEndsWhatGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &player{part: func(ctx context.Context, _ int) (model.Transcript, error) {
		cancel()
		<-ctx.Done()
		return model.Transcript{}, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
	}}
	s := newScribe(t, scribe.Config{Transcriber: p, Audio: &room{}})
	path := file(t, "ogg", 1, false)
	for range 2 { // the second time before it begins
		_, err := s.Transcribe(ctx, path, scribe.Spoken{}, scribe.Listener{})
		assert.That(t, model.KindOf(err) == model.Cancelled, "got %v", err)
	}
	assert.That(t, len(p.calls) == 1, "%d calls", len(p.calls))
}

func TestCancellingEndsAWaitAtOnce(t *testing.T) {
	path := file(t, "ogg", 1, false)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := &player{part: func(context.Context, int) (model.Transcript, error) {
			return model.Transcript{}, &model.Error{Kind: model.Overloaded, RetryAfter: time.Minute}
		}}
		begin := time.Now()
		_, err := newScribe(t, scribe.Config{Transcriber: p, Audio: &room{}}).Transcribe(ctx, path, scribe.Spoken{},
			scribe.Listener{})
		assert.That(t, model.KindOf(err) == model.Timeout && time.Since(begin) == time.Second && len(p.calls) == 1,
			"%v after %v and %d calls", err, time.Since(begin), len(p.calls))
	})
}

// stingy is a room whose parts are not there.
type stingy struct{ room }

func (s *stingy) Split(_ context.Context, _, folder string, _ int) ([]audio.Part, error) {
	return []audio.Part{{File: filepath.Join(folder, "gone.wav"), Seconds: 1}}, nil
}

func TestErrorsNameNoTemporaryFile(t *testing.T) {
	s := newScribe(t, scribe.Config{Transcriber: newPlayer(), Limits: scribe.WhisperLimits(), Audio: &stingy{}})
	_, err := s.Transcribe(t.Context(), file(t, "wav", 1500, false), scribe.Spoken{}, scribe.Listener{})
	wantRefusal(t, err, "can't be read")
	s = scribe.New(scribe.Config{Transcriber: newPlayer(), Audio: &room{}, Folder: filepath.Join(t.TempDir(), "gone")})
	_, err = s.Transcribe(t.Context(), file(t, "ogg", 1, false), scribe.Spoken{}, scribe.Listener{})
	assert.That(t, model.KindOf(err) == model.Server && !strings.Contains(err.Error(), "gone"), "got %v", err)
}

// lumpy is a room whose parts are all as large as the first half of them is.
type lumpy struct {
	room
	cuts []int
}

func (l *lumpy) Split(ctx context.Context, file, folder string, seconds int) ([]audio.Part, error) {
	l.cuts = append(l.cuts, seconds)
	parts, err := l.room.Split(ctx, file, folder, seconds)
	if err == nil && len(l.cuts) < 3 {
		err = os.Truncate(parts[0].File, 2<<20)
	}
	return parts, err
}

func TestPartThatIsTooLargeStillIsCutAnew(t *testing.T) {
	r := &lumpy{}
	p := &player{part: func(context.Context, int) (model.Transcript, error) { return model.Transcript{Text: "x"}, nil }}
	s := newScribe(t, scribe.Config{Transcriber: p, Limits: scribe.Limits{Formats: []string{"wav"}, Bytes: 1 << 20},
		Audio: r})
	_, err := s.Transcribe(t.Context(), file(t, "wav", 60, false), scribe.Spoken{}, scribe.Listener{})
	assert.Require(t, err == nil && len(p.calls) != 0, "%v after %d calls", err, len(p.calls))
	assert.Same(t, []int{29, 14, 7}, r.cuts)
}

func TestPauseBeforeAPartIsSentAgainIsTold(t *testing.T) {
	path := file(t, "ogg", 1, false)
	synctest.Test(t, func(t *testing.T) {
		p := &player{part: func(_ context.Context, call int) (model.Transcript, error) {
			if call == 1 {
				return model.Transcript{}, &model.Error{Kind: model.RateLimit, Model: "house:whisper",
					RetryAfter: 20 * time.Second}
			}
			return model.Transcript{Text: "fine"}, nil
		}}
		var told []model.Wait
		begun := time.Now()
		s := newScribe(t, scribe.Config{Transcriber: p, By: "house:whisper", Audio: &room{}})
		got, err := s.Transcribe(t.Context(), path, scribe.Spoken{}, scribe.Listener{Wait: func(w model.Wait) {
			told = append(told, w)
		}})
		assert.Require(t, err == nil && got.Text == "fine", "got %+v, %v", got, err)
		assert.That(t, len(told) == 1 && told[0].Kind == model.RateLimit && told[0].Until.Sub(begun) >= 20*time.Second,
			"told: %+v", told)
	})
}

// A recording that was heard in a language that nobody expects is tried once more in the likeliest one.
func TestUnexpectedLanguageGivesWayToTheLikeliestOneWhereTheTranscriberIsSurerOfThat(t *testing.T) {
	in := func(language, text string, confidence float64) model.Transcript {
		return model.Transcript{Text: text, Language: language,
			Segments: []model.Segment{{End: 2, Text: text, Confidence: confidence}}}
	}
	galician, portuguese := in("galician", "Teño que ir.", 0.5), in("", "Tenho de ir.", 0.8)
	other := []scribe.Flag{{Kind: scribe.OtherLanguage, Text: "Teño que ir.", End: 3}}
	for name, c := range map[string]struct {
		in     scribe.Spoken
		said   []model.Transcript
		text   string
		spoken string
		flags  []scribe.Flag
		asked  []string // languages
	}{
		"surer of the likeliest": {scribe.Spoken{Expected: []string{"pt", "en"}}, []model.Transcript{galician, portuguese},
			"Tenho de ir.", "pt", nil, []string{"", "pt"}},
		"surer of what it heard": {scribe.Spoken{Expected: []string{"pt"}},
			[]model.Transcript{galician, in("pt", "Tem o quê ir", 0.4)}, "Teño que ir.", "gl", other, []string{"", "pt"}},
		"it says of nothing how sure it is": {scribe.Spoken{Expected: []string{"pt"}},
			[]model.Transcript{in("galician", "Teño que ir.", 0), in("pt", "Tenho de ir.", 0)}, "Teño que ir.", "gl", other,
			[]string{"", "pt"}},
		"the second try fails": {scribe.Spoken{Expected: []string{"pt"}}, []model.Transcript{galician}, "Teño que ir.", "gl",
			other, []string{"", "pt"}},
		"an expected one": {scribe.Spoken{Expected: []string{"en", "gl"}}, []model.Transcript{galician}, "Teño que ir.", "gl", nil, []string{""}},
		"any is expected": {scribe.Spoken{}, []model.Transcript{galician}, "Teño que ir.", "gl", nil, []string{""}},
		"the language is set": {scribe.Spoken{Language: "es", Expected: []string{"pt"}}, []model.Transcript{galician},
			"Teño que ir.", "gl", nil, []string{"es"}},
	} {
		p := newPlayer(c.said...)
		s := newScribe(t, scribe.Config{Transcriber: p, Audio: &room{}})
		got, err := s.Transcribe(t.Context(), file(t, "wav", 3, false), c.in, scribe.Listener{})
		assert.That(t, err == nil && got.Text == c.text && got.Language == c.spoken, "%s: %+v, %v", name, got, err)
		assert.Same(t, c.flags, got.Flags)
		var asked []string
		for _, call := range p.calls {
			asked = append(asked, call.language)
		}
		wantEqual(t, name, asked, c.asked)
	}
}
