package api_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	documents "sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/prompts"
)

// inquiry is what the Inquiry of the house is made of: no detective, documents of the test, and folders of it.
func (h *house) inquiry() inquiry.Deps {
	h.Helper()
	texts := assert.Must(fs.Sub(prompts.FS, "inquiry"))(h)
	reader := h.documents()
	return inquiry.Deps{Store: h.store, Prompts: texts,
		Files: func(owner journal.Owner) (*record.Folder, error) {
			return record.Open(filepath.Join(h.folder, "inquiries", string(owner)))
		},
		Choose: func(_ context.Context, asked string) (string, error) {
			switch asked {
			case "", model.OfflineRules:
				return model.OfflineRules, nil
			case "test:silent":
				return asked, nil
			}
			return "", errors.New("there is no such model")
		},
		Model: func(context.Context, string) (model.Model, error) { return silent{}, nil },
		Witness: func(ctx context.Context, w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
			docs, failed := documents.FromMaterial(w.Handed)
			if w.Name != "" {
				var err error
				if docs, failed, err = reader.ReadAll(ctx, w.Name); err != nil {
					return nil, nil, err
				}
			}
			var known []record.Document
			for _, d := range docs {
				known = append(known, record.Document{Name: d.Name, Hash: d.Hash, Pages: len(d.Pages),
					Chunks: len(documents.Chunks(d))})
			}
			for _, f := range failed {
				known = append(known, record.Document{Name: f.File, Error: f.Error()})
			}
			return testifying{witness.Documents(docs, witness.Options{}), h}, known, nil
		}}
}

// silent is a model that never answers.
type silent struct{}

func (silent) ID() string  { return "test:silent" }
func (silent) Local() bool { return true }
func (silent) Chat(context.Context, model.Request, func(model.Delta) error) (model.Response, error) {
	return model.Response{}, &model.Error{Kind: model.Refused, Err: errors.New("hunter2")}
}

// testifying is a witness that answers from documents, after what the house wants to happen.
type testifying struct {
	witness.Witness
	h *house
}

func (w testifying) Answer(
	ctx context.Context, question, language string, earlier []witness.Exchange,
) (a witness.Answer, err error) {
	w.h.mu.Lock()
	before := w.h.testify
	w.h.mu.Unlock()
	if before != nil {
		err = before(ctx, len(earlier)+1)
	}
	if err != nil {
		return a, err
	}
	return w.Witness.Answer(ctx, question, language, earlier)
}

// silentFrom has the witness wait from an answer on, until the function is called or nobody wants to know any more;
// asked tells that it does.
func (h *house) silentFrom(number int) (asked <-chan struct{}, release func()) {
	began, gate := make(chan struct{}, 1), make(chan struct{})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.testify = func(ctx context.Context, n int) error {
		if n < number {
			return nil
		}
		select {
		case began <- struct{}{}:
		default:
		}
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return began, sync.OnceFunc(func() { close(gate) })
}

// comes waits until a channel has something.
func (h *house) comes(what string, from <-chan struct{}) {
	h.Helper()
	select {
	case <-from:
	case <-time.After(deadline):
		h.Fatalf("%s did not come", what)
	}
}

// withInquiry is a house in which inquiries can be made; reports is the folder of documents there, of ada and eve.
func withInquiry(t testing.TB) (h *house, reports string) {
	t.Helper()
	h, reports = newHouse(t), filepath.Join(t.TempDir(), "papers")
	assert.NoError(t, os.Mkdir(reports, 0o700))
	for name, text := range map[string]string{"bridge.txt": evidence, "broken.pdf": "it is none"} {
		assert.NoError(t, os.WriteFile(filepath.Join(reports, name), []byte(text), 0o600))
	}
	h.config.Folders = func(user string) map[string]string {
		return map[string]map[string]string{"ada": {"reports": reports, "empty": filepath.Join(reports, "none")},
			"eve": {"reports": reports}}[user]
	}
	reader := h.documents()
	h.config.Sources = func(ctx context.Context, folder string) (func(string) (record.Source, error), error) {
		docs, _, err := reader.ReadAll(ctx, folder)
		return func(name string) (record.Source, error) {
			at := slices.IndexFunc(docs, func(d documents.Document) bool { return d.Name == name })
			if at < 0 {
				return record.Source{}, fs.ErrNotExist
			}
			return record.Source{Hash: docs[at].Hash, Chunks: documents.Chunks(docs[at])}, nil
		}, err
	}
	h.others = append(h.others, theInquiry(h))
	return h, reports
}

// inquires asks for an inquiry, under a key if it is not empty.
func inquires(token, key string) question {
	return question{method: "POST", path: inquiries, token: token, header: map[string]string{"Idempotency-Key": key},
		body: map[string]any{"hypothesis": hypothesis, "witness": "reports", "limit": 5}}
}

// inquired is an inquiry of ada's that has ended.
func (h *house) inquired() (at string, s record.Session) {
	h.Helper()
	var begun api.InquiryBegun
	h.get(inquires("", ""), &begun)
	h.over(begun.Run)
	at = inquiries + "/" + begun.ID
	h.get(question{path: at}, &s)
	return at, s
}
