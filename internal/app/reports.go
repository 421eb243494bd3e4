package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/model"
)

// mostReports bounds how many reports are kept, since names come from anywhere: above it, the oldest goes.
const mostReports = 256

// reportStands is how long a provider is not asked again about a model.
const reportStands = time.Minute

// reports keeps what providers last reported of their models, in a file of the data folder that several processes
// share. What can't be read or written there is kept by the process alone. It is safe for concurrent use.
type reports struct {
	file string
	mu   sync.Mutex
	kept map[string]report // by provider, endpoint and name; nil until they are read
}

type report struct {
	model.Info
	At time.Time `json:"at"`
}

func newReports(dataDir string) *reports {
	return &reports{file: filepath.Join(dataDir, "models.json")}
}

// of returns the functions for Provider.Describe and Provider.Last of a provider at an endpoint.
func (r *reports) of(
	provider, endpoint string, ask func(ctx context.Context, name string) (model.Info, error),
) (describe func(context.Context, string) (model.Info, error), last func(string) (model.Info, time.Time)) {
	prefix := provider + " " + files.Hash([]byte(endpoint))[:12] + " "
	last = func(name string) (model.Info, time.Time) {
		known := r.get(prefix + name)
		return known.Info, known.At
	}
	describe = func(ctx context.Context, name string) (model.Info, error) {
		if info, at := last(name); time.Since(at) < reportStands {
			return info, nil
		}
		info, err := ask(ctx, name)
		if err == nil {
			r.put(prefix+name, report{info, time.Now().UTC().Truncate(time.Second)})
		}
		return info, err
	}
	return describe, last
}

func (r *reports) get(key string) report {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = r.read()
	}
	return r.kept[key]
}

// put keeps a report, beside those that other processes have kept meanwhile.
func (r *reports) put(key string, of report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.read()
	for other, ours := range r.kept {
		if ours.At.After(all[other].At) {
			all[other] = ours
		}
	}
	r.kept = all
	r.kept[key] = of
	for len(r.kept) > mostReports {
		oldest := key
		for other, theirs := range r.kept {
			if theirs.At.Before(r.kept[oldest].At) {
				oldest = other
			}
		}
		delete(r.kept, oldest)
	}
	if _, err := os.Stat(filepath.Dir(r.file)); err != nil {
		return // there is no data folder, and it is not for this that one is made
	}
	if text, err := json.MarshalIndent(r.kept, "", "\t"); err == nil {
		_ = files.Replace(r.file, text, 0o600) // the next process asks again
	}
}

// read returns the reports in the file.
func (r *reports) read() map[string]report {
	all := map[string]report{}
	if text, err := os.ReadFile(r.file); err == nil {
		_ = json.Unmarshal(text, &all) // what is damaged is asked for again
	}
	return all
}
