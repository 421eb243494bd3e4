package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/service"
	"sibyl/prompts"
)

// The addresses of the Council.
const (
	councils = "/api/council/sessions"
	oracles  = "/api/council/oracles"
)

// council is what the Council of the house is made of: built-in oracles, a voice in place of models, and folders of the
// test.
func (h *house) council() council.Deps {
	h.Helper()
	texts := assert.Must(fs.Sub(prompts.FS, "council"))(h)
	var mu sync.Mutex
	folders := map[journal.Owner]*session.Store{}
	h.Cleanup(func() {
		for _, one := range folders {
			_ = one.Close()
		}
	})
	return council.Deps{Store: h.store, Prompts: texts, Now: time.Now, Oracles: persona.New(persona.Config{}),
		Sessions: func(owner journal.Owner) (*session.Store, error) {
			mu.Lock()
			defer mu.Unlock()
			if folders[owner] == nil {
				made, err := session.Open(session.Config{Folder: filepath.Join(h.folder, string(owner)),
					Read: h.config.Documents.Read, LockWait: deadline, Step: func(string) error {
						h.log.tell()
						return nil
					}})
				if err != nil {
					return nil, err
				}
				folders[owner] = made
			}
			return folders[owner], nil
		},
		Choose: func(_ context.Context, asked string) (string, error) {
			switch asked {
			case "", "test:voice":
				return "test:voice", nil
			case model.OfflineRules, "test:other":
				return asked, nil
			}
			return "", errors.New("there is no such model")
		},
		Model:  func(_ context.Context, id string) (model.Model, error) { return voice{id}, nil },
		Known:  func(context.Context, string) model.Info { return model.Info{} },
		Driven: func(r journal.Run) bool { return r.Status == journal.Running },
		Missing: func() string {
			if h.transcribe == nil {
				return "set transcription.command in /etc/sibyl/config.yaml"
			}
			return ""
		},
		HeardAt: func() string { return "speech.example" },
		Transcribe: func(
			ctx context.Context, file string, _ council.SpokenIn, _ council.Transcribing,
		) (session.Transcript, error) {
			text, err := h.transcribe(ctx, file)
			return session.Transcript{Text: text, By: "test", Times: []session.Time{{At: 0, Seconds: 1.5}}}, err
		},
		Within: func(ctx context.Context, owner journal.Owner, id string, o council.Options) (json.RawMessage, error) {
			r, err := h.config.Service.Within(ctx, owner, id, service.Request{Assistant: council.MemberName,
				Options: o})
			return r.Outcome, err
		}}
}

// voice answers as an oracle, or with a name for a session.
type voice struct{ id string }

func (v voice) ID() string { return v.id }

func (voice) Local() bool { return true }

func (v voice) Chat(
	ctx context.Context, req model.Request, emit func(model.Delta) error,
) (r model.Response, err error) {
	r.Text = `{"name":"The new office"}`
	if req.Purpose == council.Purpose {
		r.Text = "I have **heard** it."
	}
	r.Model, r.Finish = v.id, model.FinishStop
	if emit != nil && err == nil {
		err = emit(model.Delta{Text: r.Text})
	}
	return r, err
}

// withCouncil is a house in which the Council can be asked.
func withCouncil(t testing.TB) *house {
	h := newHouse(t)
	h.others = append(h.others, theCouncil(h)...)
	return h
}

// sitting begins a session of the Council in which something was said.
func (h *house) sitting(token string, words ...string) council.Opened {
	h.Helper()
	var s council.Opened
	h.get(question{method: "POST", path: councils, token: token, body: map[string]any{"language": "en"}}, &s)
	for _, one := range words {
		h.get(question{method: "POST", path: councils + "/" + s.ID + "/entries", token: token,
			body: map[string]any{"text": one}}, nil)
	}
	return s
}

const offer = "The offer for the new office looks good, but I don't trust the numbers. Should we move in May?"

// theirs are requests about a session, of every route that names one.
func theirs(id string) []question {
	at := councils + "/" + id
	asked := map[string]any{"oracles": []string{"skeptic"}}
	return []question{{path: at}, {method: "PATCH", path: at, body: map[string]any{"name": "mine"}},
		{method: "DELETE", path: at}, {path: at + "/export"}, {path: at + "/export?format=json"},
		{method: "POST", path: at + "/repair"}, {method: "POST", path: at + "/entries",
			body: map[string]any{"text": "mine"}},
		{method: "POST", path: at + "/entries?name=a.ogg", body: "OggS",
			header: map[string]string{"Content-Type": "audio/ogg"}}, {path: at + "/entries/1/audio"},
		{path: at + "/entries/1/transcript"}, {path: at + "/responses/1"}, {method: "POST", path: at + "/answers",
			body: asked}, {method: "POST", path: at + "/preview", body: asked},
		{method: "POST", path: at + "/transcription", body: map[string]any{}}, {method: "POST", path: at + "/name",
			body: map[string]any{}}}
}

func TestCouncilSessionOfAnotherIsAsOneThatNeverWas(t *testing.T) {
	h := withCouncil(t).open()
	s := h.sitting("", offer)
	before := h.get(question{path: councils + "/" + s.ID}, nil).body
	for i, q := range theirs(s.ID) {
		q.token = evesToken
		unknown := theirs("2020-02-02_20-20-20")[i]
		unknown.token = evesToken
		his := h.refused(q.method+" "+q.path, q, 404, "not_found")
		never := h.refused(q.method+" "+unknown.path, unknown, 404, "not_found")
		assert.That(t, string(his.body) == string(never.body), "%s is told apart: %s, %s", q.path, his.body, never.body)
	}
	for _, forged := range []string{"..%2f" + s.ID, "%2e%2e%2fada%2f" + s.ID, "..%5c" + s.ID, s.ID + "%00", s.ID[:10],
		s.ID + "_02", ".trash", ".locks", "%F0%9F%92%A9", strings.Repeat("x", 300)} {
		for _, q := range theirs(forged) {
			h.refused(q.method+" "+q.path, q, 404, "not_found")
		}
	}
	after := h.get(question{path: councils + "/" + s.ID}, nil).body
	assert.That(t, string(after) == string(before), "it was\n%s\nand is\n%s", before, after)
}

func TestCouncilSessionKeepsAndTellsTheModelThatWasChosen(t *testing.T) {
	h := withCouncil(t).open()
	at := councils + "/" + h.sitting("", offer).ID
	asks := func(route string, body map[string]any) question {
		body["oracles"] = []string{"skeptic"}
		return question{method: "POST", path: at + route, body: body,
			header: map[string]string{"Accept": "application/json"}}
	}
	h.refused("a model that is none", asks("/answers", map[string]any{"model": "no:such"}), 400, "invalid_request")
	for _, body := range []map[string]any{{"model": "test:other"}, {}} {
		h.get(asks("/answers", body), nil)
		var told api.CouncilPrompts
		h.get(asks("/preview", map[string]any{}), &told)
		assert.Equal(t, told.Prompts[0].Model, "test:other")
		var sat api.CouncilSittings
		h.get(question{path: at + "/sittings"}, &sat)
		assert.Equal(t, sat.Sittings[0].Answers[0].Model, "test:other")
		var kept struct{ Setup struct{ Model string } }
		h.get(question{path: "/api/sessions/" + sat.Journal}, &kept)
		assert.Equal(t, kept.Setup.Model, "test:other")
	}
}

func TestCouncilTellsNoPathOfItsServer(t *testing.T) {
	h := newHouse(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"cetico.md": "# Cético\n\n{{CONTEXT}}\n", "broken.md": "\xff\xfe\x00",
		"twice.md": "# Cético\n\nx\n"} {
		assert.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	h.config.Council.Oracles = persona.New(persona.Config{Dir: dir})
	h.open()
	s := h.sitting("", offer)
	at := councils + "/" + s.ID
	h.get(question{method: "POST", path: at + "/entries?name=a.wav", body: "RIFF",
		header: map[string]string{"Content-Type": "audio/wav"}}, nil)
	folder := assert.Must(h.config.Council.Sessions("ada"))(t)
	_, err := folder.FailTranscript(t.Context(), s.ID, 2, bt.Because("whisper: can't open "+filepath.Join(h.folder, "ada",
		s.ID, "audio", "002_audio.wav")))
	assert.NoError(t, err)
	for _, path := range []string{councils, at, at + "/export", at + "/export?format=json", oracles} {
		a := h.get(question{path: path}, nil)
		assert.Lacks(t, path, string(a.body), h.folder, filepath.Dir(h.folder), dir)
	}
	var got council.Opened
	if h.get(question{path: at}, &got); got.Audio[1].Error != "whisper: can't open "+s.ID+"/audio/002_audio.wav" {
		t.Errorf("of the failure is told: %s", got.Audio[1].Error)
	}
	var all persona.Listing
	h.get(question{path: oracles}, &all)
	assert.That(t, len(all.Oracles) == 2 && all.Oracles[0].File == "cetico.md" && len(all.Oracles[0].Warnings) == 1 &&
		len(all.Skipped) == 1 && all.Skipped[0].File == "broken.md", "%+v", all)
	assert.NoError(t, os.RemoveAll(dir))
	a := h.refused("oracles that are gone", question{path: oracles}, http.StatusServiceUnavailable,
		"no_oracles")
	assert.That(t, !strings.Contains(string(a.body), dir), "%v", string(a.body))
}

func TestOraclesAreListedAndShown(t *testing.T) {
	h := newHouse(t).open()
	var all persona.Listing
	h.get(question{path: oracles, token: adasReader}, &all)
	assert.Require(t, len(all.Oracles) >= 18 && len(all.Skipped) == 0, "%+v", all)
	for _, one := range all.Oracles {
		var shown persona.Persona
		h.get(question{path: oracles + "/" + one.ID}, &shown)
		assert.That(t, shown.Name == one.Name && strings.Contains(shown.Content, shown.Placeholder) &&
			!strings.Contains(one.File, "/"), "%+v is shown as %+v", one, shown)
	}
	for _, id := range []string{"a1b2c3d4", all.Oracles[0].Name, "..%2fcetico", strings.ToUpper(all.Oracles[0].ID)} {
		h.refused(id, question{path: oracles + "/" + strings.ReplaceAll(id, " ", "%20")}, 404, "no_oracle")
	}
}

func TestWhoMayOnlyReadTheCouncilMendsNothing(t *testing.T) {
	h := newHouse(t).open()
	s := h.sitting("", offer)
	at := councils + "/" + s.ID
	h.get(question{method: "POST", path: at + "/entries?name=a.wav", body: "RIFF",
		header: map[string]string{"Content-Type": "audio/wav"}}, nil)
	folder := assert.Must(h.config.Council.Sessions("ada"))(t)
	if _, err := folder.BeginTranscribing(t.Context(), s.ID); err != nil { // by a run that is no more
		t.Fatal(err)
	}
	var got council.Opened
	h.get(question{path: at, token: adasReader}, &got)
	assert.That(t, got.State == session.Interrupted && got.Fixed == nil, "for a reader it is %s, %v", got.State, got.Fixed)
	now, err := folder.Get(t.Context(), s.ID)
	assert.That(t, err == nil && now.State == session.Transcribing, "in the folder it is %s, %v", now.State, err)
	for _, path := range []string{councils, at, at + "/export", at + "/entries/1/transcript", at + "/entries/2/audio"} {
		a := h.ask(question{method: "HEAD", path: path, token: adasReader})
		assert.That(t, a.status == 200 && len(a.body) == 0, "HEAD %s: %d with %d bytes", path, a.status, len(a.body))
	}
	h.get(question{path: at}, &got)
	assert.That(t, got.State == session.Interrupted && len(got.Fixed) == 1 && got.Fixed[0].Code == "mended.interrupted",
		"for a writer it is %s, %v", got.State, got.Fixed)
}

func TestRecordingIsWrittenDownInTheBackground(t *testing.T) {
	h := withCouncil(t)
	entered, release := make(chan string, 4), make(chan struct{})
	h.transcribe = func(ctx context.Context, file string) (string, error) {
		entered <- filepath.Base(file)
		select {
		case <-release:
			return "words of " + filepath.Base(file), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	h.open()
	s := h.sitting("")
	at := councils + "/" + s.ID
	var first, second api.CouncilAdded
	a := h.get(upload(s.ID, "", "audio/ogg", "OggS one"), &first)
	assert.Require(t, a.status == 201 && first.Transcription != nil &&
		a.header.Get("Location") == "/api/runs/"+first.Transcription.Run && first.Waits == "",
		"%d %v %+v", a.status, a.header, first)
	same(t, "first", <-entered, "001_audio.ogg")
	h.get(upload(s.ID, "", "audio/ogg", "OggS two"), &second)
	assert.That(t, second.Transcription != nil && second.Transcription.Run == first.Transcription.Run,
		"the run that goes on takes it in, too: %+v", second)
	var begun api.Begun
	again := question{method: "POST", path: at + "/transcription", body: map[string]any{}}
	a = h.get(again, &begun)
	assert.That(t, a.status == 202 && begun.Run == first.Transcription.Run, "asked for: %d %+v", a.status, begun)
	again.body = map[string]any{"again": true}
	h.refused("asked for anew, while it goes on", again, 409, "claimed")
	close(release)
	r := h.ended("", first.Transcription.Run)
	assert.That(t, r.Status == journal.Done && r.Cause == "transcribed", "%+v", r)
	for seq, want := range map[string]string{"1": "words of 001_audio.ogg", "2": "words of 002_audio.ogg"} {
		var said api.CouncilTranscript
		h.get(question{path: at + "/entries/" + seq + "/transcript"}, &said)
		assert.That(t, said.Text == want, "%s: %+v", seq, said)
		same(t, "when it is said", said.Spoken, []session.Spoken{{Text: want, Seconds: 1.5}})
	}
	h.get(question{path: at}, &s)
	assert.That(t, s.State == session.Transcribed, "%+v", s)
}

func TestRecordingIsAddedAlsoWhereItsUserHasNoRoomForARun(t *testing.T) {
	h := withCouncil(t)
	h.transcribe = func(context.Context, string) (string, error) { return "words", nil }
	h.config.Limits.Runs = 1
	h.open()
	s := h.sitting("")
	defer h.holds("bob")()
	h.begin("", "Tea?")
	var added api.CouncilAdded
	a := h.get(upload(s.ID, "", "audio/ogg", "OggS"), &added)
	assert.That(t, a.status == 201 && added.Transcription == nil && added.Waits != "" &&
		added.WaitsKind == "too_many_runs" && added.Entry.Status == session.Pending, "%d %+v", a.status, added)
}
