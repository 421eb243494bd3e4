package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/model"
	"sibyl/internal/model/openai"
)

// mostReports bounds how many reports are kept, since names come from anywhere: above it, the oldest goes.
const mostReports = 256

// How long another process that writes the reports is waited for: with what a provider told beside a run, which is soon
// learnt again, and with a contract that took minutes to measure.
const (
	learntWait   = 200 * time.Millisecond
	measuredWait = 5 * time.Second
)

// reportStands is how long a provider is not asked again about a model.
const reportStands = time.Minute

// refusalStands is how long an endpoint is not sent again what it has refused: servers are updated.
const refusalStands = 24 * time.Hour

// rewriteAfter is the age from which a list that has not changed is written again.
const rewriteAfter = 10 * time.Minute

// reports keeps what is known of models: what providers last reported and have refused, and the contracts. It is a file
// of the data folder that several processes share. What can't be read or written there is kept by the process alone. It
// is safe for concurrent use.
type reports struct {
	file string
	mu   sync.Mutex
	kept map[string]report // by provider, endpoint and name; nil until they are read
	seen time.Time         // when the file that was read last was written
}

// report is what is known of one model. At is when its provider reported; the zero time: it did not.
type report struct {
	model.Info
	At       time.Time       `json:"at,omitzero"`
	Lists    []string        `json:"lists,omitempty"` // the models of a provider, in the report on the provider itself
	Contract *model.Contract `json:"contract,omitempty"`

	Refused   model.Refusals `json:"refused,omitzero"` // of schemas
	RefusedAt time.Time      `json:"refused_at,omitzero"`
}

// since is when any of it was last made.
func (r report) since() time.Time {
	if r.Contract == nil {
		return latest(r.At, r.RefusedAt)
	}
	return latest(r.At, r.RefusedAt, r.Contract.TestedAt, r.Contract.LearntAt)
}

func latest(all ...time.Time) time.Time { return slices.MaxFunc(all, time.Time.Compare) }

// joined is the newer of each part of two.
func (r report) joined(other report) report {
	if other.At.After(r.At) {
		r.Info, r.At, r.Lists = other.Info, other.At, other.Lists
	}
	if other.RefusedAt.After(r.RefusedAt) {
		r.Refused, r.RefusedAt = other.Refused, other.RefusedAt
	}
	if other.Contract != nil && (r.Contract == nil || (report{Contract: other.Contract}).since().
		After(report{Contract: r.Contract}.since())) {
		r.Contract = other.Contract
	}
	return r
}

func newReports(dataDir string) *reports {
	return &reports{file: filepath.Join(dataDir, "models.json")}
}

// serve sets the functions of a provider at an endpoint that tell what is known of its models, and has its List kept.
// ask asks the provider about a model.
func (r *reports) serve(
	p *model.Provider, endpoint string, ask func(ctx context.Context, name string) (model.Info, error),
) {
	key := func(name string) string { return reportKey(p.Name, endpoint, name) }
	list, own := p.List, key("")
	p.List = func(ctx context.Context) ([]string, error) {
		names, err := list(ctx)
		if before := r.get(own); err == nil && (time.Since(before.At) > rewriteAfter || !slices.Equal(before.Lists, names)) {
			_ = r.put(own, learntWait, func(of *report) { of.Lists, of.At = names, now() }) // or it is asked again
		}
		return names, err
	}
	p.Listed = func() ([]string, time.Time) {
		known := r.get(own)
		return known.Lists, known.At
	}
	p.Last = func(name string) (model.Info, time.Time) {
		known := r.get(key(name))
		return known.Info, known.At
	}
	p.Describe = func(ctx context.Context, name string) (model.Info, error) {
		if info, at := p.Last(name); time.Since(at) < reportStands {
			return info, nil
		}
		info, err := ask(ctx, name)
		if err == nil {
			_ = r.put(key(name), learntWait, func(of *report) { of.Info, of.At = info, now() }) // or it is asked again
		}
		return info, err
	}
	p.Contract = func(name string) model.Contract {
		if kept := r.get(key(name)).Contract; kept != nil {
			return *kept
		}
		return model.Contract{}
	}
	p.Keep = func(name string, c model.Contract) error {
		return r.put(key(name), measuredWait, func(of *report) { of.Contract = &c })
	}
}

// reportKey is what a model at an endpoint is kept under.
func reportKey(provider, endpoint, name string) string {
	return provider + " " + files.Hash([]byte(endpoint))[:12] + " " + name
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// remember has a client begin with what is known that its endpoint refuses for its model, and keeps what it learns.
func (r *reports) remember(c *openai.Config) {
	key := reportKey(c.Provider, c.BaseURL, c.Model)
	if known := r.get(key); time.Since(known.RefusedAt) < refusalStands {
		c.Refused = known.Refused
	}
	c.OnRefused = func(told model.Refusals) {
		_ = r.put(key, learntWait, func(of *report) { of.Refused, of.RefusedAt = told, now() }) // or it is refused again
	}
}

func (r *reports) get(key string) report {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	return r.kept[key]
}

// refresh reads the file, if another process has written it since, and joins what it has.
func (r *reports) refresh() {
	info, err := os.Stat(r.file)
	if r.kept != nil && (err != nil || info.ModTime().Equal(r.seen)) {
		return
	}
	all := r.read()
	for other, ours := range r.kept {
		all[other] = ours.joined(all[other])
	}
	r.kept = all
	if err == nil {
		r.seen = info.ModTime()
	}
}

// put changes a report, beside those that other processes have kept meanwhile. Readers in this process see the change
// before it is on disk. An error says that it is kept by this process alone.
func (r *reports) put(key string, wait time.Duration, change func(*report)) error {
	r.mu.Lock()
	r.refresh()
	r.set(key, change)
	r.mu.Unlock()
	unlock, err := r.lock(wait) // others read meanwhile
	if err != nil {
		return err
	}
	defer unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = time.Time{} // what was written within one tick of the file system's clock has one time
	r.refresh()
	r.set(key, change)
	text, err := json.MarshalIndent(r.kept, "", "\t")
	if err != nil {
		return err
	}
	return files.Replace(r.file, text, 0o600)
}

// set changes a report that was read, and drops the oldest above the bound.
func (r *reports) set(key string, change func(*report)) {
	of := r.kept[key]
	change(&of)
	r.kept[key] = of
	for len(r.kept) > mostReports {
		oldest := key
		for other := range r.kept {
			if r.goesBefore(other, oldest) {
				oldest = other
			}
		}
		delete(r.kept, oldest)
	}
}

// lock keeps other processes from writing the file. It fails if there is no data folder: it is not for this that one is
// made.
func (r *reports) lock(wait time.Duration) (unlock func(), err error) {
	folder, name := filepath.Split(r.file)
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // the lock file stays open without it
	return files.Lock(context.Background(), root, name+".lock", wait)
}

// goesBefore says which of two goes first where there are too many: one without a contract, or else the older.
func (r *reports) goesBefore(one, other string) bool {
	a, b := r.kept[one], r.kept[other]
	if (a.Contract == nil) != (b.Contract == nil) {
		return a.Contract == nil
	}
	return a.since().Before(b.since())
}

// read returns the reports in the file.
func (r *reports) read() map[string]report {
	all := map[string]report{}
	if text, err := os.ReadFile(r.file); err == nil {
		_ = json.Unmarshal(text, &all) // what is damaged is asked for again
	}
	return all
}
