package behaviour_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
	"sibyl/internal/service"
)

// stage is the real program, with a provider of each wire whose models are played.
type stage struct {
	*app.App
	code string // the folder of the code

	mu    sync.Mutex
	parts map[string]part
	shows map[string][]scene
}

// scene is one request, and what was replied.
type scene struct {
	heard
	reply
}

// A folder of code, and one of notes.
const (
	middlewareGo = `package auth

// Middleware lets a request pass whose token is valid.
func Middleware(next Handler) Handler {
	return func(r Request) {
		if Verify(r.Bearer()) == nil {
			next(r)
		}
	}
}
`
	tokenGo = `package auth

// Verify checks the signature of a token, then its expiry.
func Verify(token string) error { return check(token) }
`
	cachingMD = "# Caching\n\nWe decided on 3 May to use no cache.\n"
)

// folder is a new folder with these files, path and text in turn.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(files); i += 2 {
		file := filepath.Join(dir, files[i])
		assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(files[i+1]),
			0o600)))
	}
	return dir
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{parts: map[string]part{}, shows: map[string][]scene{},
		code: folder(t, "auth/middleware.go", middlewareGo, "auth/token.go", tokenGo, "limits.txt",
			strings.Repeat("a limit\n", 40))}
	openai, anthropic, ollama := modeltest.NewServer(t), modeltest.NewServer(t), modeltest.NewServer(t)
	openai.Play(s.overTexts)
	anthropic.Play(s.overAnthropic)
	ollama.Play(s.overTexts)
	cfg := assert.Must(config.Load(config.Options{Home: t.TempDir(), Environ: []string{"OPENAI_BASE_URL=" + openai.BaseURL,
		"ANTHROPIC_BASE_URL=" + anthropic.BaseURL,
		"ANTHROPIC_API_KEY=key-0123456789", "OLLAMA_HOST=" + ollama.BaseURL, "SIBYL_DATA=" + filepath.Join(t.TempDir(),
			"data")}}))(t)
	s.App = assert.Must(app.Open(t.Context(), cfg, app.Options{Build: "test"}))(t)
	t.Cleanup(func() { assert.Nil(t, s.Close()) })
	return s
}

// cast gives a part to a model, and gives its id.
func (s *stage) cast(provider, model string, p part) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[model] = p
	return provider + ":" + model
}

// perform has a model reply.
func (s *stage) perform(model string, h heard) modeltest.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.parts[model](h)
	s.shows[model] = append(s.shows[model], scene{h, r})
	return r.answer(h)
}

// scenes are the requests that a model got, in order.
func (s *stage) scenes(id string) []scene {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, model, _ := strings.Cut(id, ":")
	return slices.Clone(s.shows[model])
}

// ending is what came of a question.
type ending struct {
	service.Result
	oracle.Answer
	streamed string // what was shown on the way and not withdrawn
	session  string
}

// ask asks the Oracle, in a session or, if that is empty, in one that begins.
func (s *stage) ask(t *testing.T, model, session, question, vault string) ending {
	t.Helper()
	return s.finish(t, s.start(t, model, session, question, vault))
}

func (s *stage) start(t *testing.T, model, session, question, vault string) *service.Run {
	t.Helper()
	r := assert.Must(s.Service.Start(t.Context(), app.Owner, service.Request{Assistant: oracle.Name, Session: session,
		Words: question,
		Options: oracle.Options{Code: schema.Folder{Path: s.code}, Vault: schema.Folder{Path: vault}, Model: model,
			MaxTurns: 30}}))(t)
	return r
}

func (s *stage) finish(t *testing.T, r *service.Run) (e ending) {
	t.Helper()
	pieces := map[uint64]string{}
	for u := range r.Watch(t.Context(), 0) {
		if u.Retract {
			pieces[u.Op] = ""
		}
		pieces[u.Op] += u.Text
	}
	for _, text := range pieces {
		e.streamed += text + "\n"
	}
	var err error
	e.Result, err = r.Wait(t.Context())
	assert.Require(t, err == nil, "the run stopped short: %v", err)
	e.Answer, err = oracle.ReadAnswer(e.Outcome)
	assert.NoError(t, err)
	e.session = r.Session
	return e
}

// exit is how the program ends, in a word for each of its exit codes.
func (e ending) exit() string {
	switch {
	case e.Failure != nil && e.Failure.Kind == oracle.StopRefused:
		return "refused"
	case e.Failure != nil:
		return "error"
	case e.StopReason == oracle.StopNeedsUser && e.Result.Partial:
		return "needs_user"
	case e.Result.Partial:
		return "partial"
	}
	return "satisfied"
}

// ran are the tools that were run, in order; one that failed has a mark.
func (e ending) ran() (names []string) {
	for _, c := range e.ToolCalls {
		switch {
		case c.Refused != "":
		case c.Error != "":
			names = append(names, c.Name+"!")
		default:
			names = append(names, c.Name)
		}
	}
	return names
}
