package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
)

// setup is what a branch of a session was set up with: its last run began so.
type setup struct {
	run      string // "": the session has no run yet
	env      Env
	given    Given
	attached []string // the runs with which something was handed over, oldest first
}

// readSetup reads what the session of a request was set up with. A run that the request replaces counts, without what
// was handed over with it.
func readSetup(ctx context.Context, store run.History, r assistant.Request) (s setup, err error) {
	if r.Session == "" {
		return s, nil
	}
	id := cmp.Or(r.Replaces, r.Follows)
	if id == "" {
		last, err := store.Runs(ctx, r.Owner, journal.Filter{Session: r.Session, Assistant: Name, Limit: 1})
		if err != nil || len(last) == 0 {
			return s, err
		}
		id = last[0].ID
	}
	if err := run.ReadStart(ctx, store, r.Owner, id, &s.env, &s.given); err != nil {
		return s, err
	}
	s.run, s.attached = id, s.env.Attached
	if len(s.env.Parts) > 0 && s.run != r.Replaces {
		s.attached = append(slices.Clip(s.attached), s.run)
	}
	return s, nil
}

// setupOf tells what a session was set up with when a run of it began, or the latest.
func setupOf(
	ctx context.Context, store run.History, owner journal.Owner, session, of string,
) (told assistant.Setup, err error) {
	s, err := readSetup(ctx, store, assistant.Request{Owner: owner, Session: session, Follows: of})
	if err != nil || s.run == "" {
		return told, err
	}
	told = assistant.Setup{Code: s.env.CodeRoot, Vault: s.env.Vault, Model: s.env.Asked, Web: s.web(),
		Preset: s.env.Preset}
	for n, id := range s.attached {
		var env Env
		if err := run.ReadStart(ctx, store, owner, id, &env, &Given{}); err != nil {
			return told, err
		}
		for _, name := range env.materialNames() {
			if n >= s.env.Dropped[name] && !slices.Contains(told.Files, name) {
				told.Files = append(told.Files, name)
			}
		}
	}
	return told, nil
}

// dropped adds what a request drops to what is dropped already.
func (s setup) dropped(names []string) map[string]int {
	all := maps.Clone(s.env.Dropped)
	for _, name := range names {
		if all == nil {
			all = map[string]int{}
		}
		all[name] = len(s.attached)
	}
	return all
}

// web says whether the web is searched, where that was set.
func (s setup) web() *bool {
	if s.env.NoWeb || slices.Contains(s.given.Named, tool.Web) {
		return new(!s.env.NoWeb)
	}
	return nil
}

// restore sets the options that a request leaves open to those of its session. It returns what that left out, and what
// the request changes.
func (s setup) restore(o *Options, r assistant.Request) (told agent.Whys, err error) {
	if s.run == "" || r.Sets == nil {
		return nil, nil
	}
	named := func(of tool.Source) bool { return slices.Contains(s.given.Named, of) }
	for _, f := range []struct {
		option, before string
		now            *schema.Folder
		source         tool.Source
		asked          bool // for this question
	}{{"code", s.env.CodeRoot, &o.Code, tool.Code, false}, {"vault", s.env.Vault, &o.Vault, tool.Vault, o.AskNotes}} {
		switch {
		case r.Sets(f.option) || f.asked && f.before == "":
			switch {
			case f.now.Path == f.before || f.before == "":
			case f.now.Path == "":
				told = append(told, sourceDropped.With(string(f.source)))
			default:
				told = append(told, sourceChanged.With(string(f.source)))
			}
			continue
		case f.before != "" && r.MayRead != nil && !r.MayRead(f.before):
			*f.now = schema.Folder{}
			told = append(told, sourceBarred.With(string(f.source)))
			continue
		}
		if err := checkFolder(f.before, f.source); err != nil {
			return nil, err
		}
		*f.now = schema.Folder{Path: f.before}
		if named(f.source) {
			f.now.Name = f.before
		}
	}
	if web := s.web(); web != nil && !r.Sets("web") {
		o.Web = web
	}
	if !r.Sets("fallback") && s.env.NoFallback {
		o.Fallback = new(false)
	}
	if !r.Sets("max_turns") {
		o.MaxTurns = s.given.MaxTurns
	}
	if !r.Sets("max_tokens") {
		o.MaxTokens = s.given.MaxTokens
	}
	if !r.Sets("max_time_seconds") {
		o.MaxTime = time.Duration(s.given.MaxSeconds) * time.Second
	}
	return told, nil
}

// folderName names a folder without the folders that it lies in, which are private.
func folderName(path string) string {
	if path == "" {
		return "none"
	}
	return filepath.Base(path)
}

// checkFolder is the error of a folder of a session that is no longer there.
func checkFolder(path string, source tool.Source) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		flag := map[tool.Source]string{tool.Code: "--in", tool.Vault: "--vault"}[source]
		return &assistant.RequestError{Why: sourceGone.With(string(source), folderName(path)),
			Hint: "name another folder",
			Err: fmt.Errorf("the session searches %s as its %s, which no longer exists: name a folder with %s", path, source,
				flag)}
	}
	return fmt.Errorf("the folder %s of the session: %w", path, err)
}

// carried is what was handed over earlier in a session and is shown again.
type carried struct {
	texts []run.Text
	parts []document.Part // in the order of texts, without their contents
	left  int             // parts that had no room
}

// roomForMaterial is how many bytes of earlier material are shown again to a model with such a window, in tokens; 0: it
// is not known. At most a third of a window is for it.
func roomForMaterial(window int) int {
	const bytesPerToken = 3
	if window == 0 {
		return MaxMaterial / 2
	}
	return min(MaxMaterial, window*bytesPerToken/3)
}

// carry reads what was handed over with earlier runs, of a document that was handed over again the latest text. Where
// there is no room for all, it takes the parts with most words of the question, and of pictures the latest.
func carry(
	ctx context.Context, store run.History, r assistant.Request, env Env, pictures int,
) (c carried, err error) {
	room := max(0, roomForMaterial(env.WindowTokens)-env.Material)
	type part struct {
		document.Part
		of, place, hits int
	}
	var texts, shown []part
	latest := map[string]int{} // the run with which a document was handed over last, by name
	for _, p := range env.Parts {
		name, _ := p.Page()
		latest[name] = len(env.Attached)
	}
	for n, id := range slices.Backward(env.Attached) { // the latest first
		material, err := run.ReadText(ctx, store, r.Owner, id, MaterialText)
		if err != nil {
			return c, err
		}
		for place, p := range document.SplitParts(string(material)) {
			name, _ := p.Page()
			if n < env.Dropped[name] {
				continue
			}
			if p.Type != "" { // pictures that are pasted share a name
				if len(shown) < pictures {
					shown = append(shown, part{p, n, place, 0})
				}
				continue
			}
			if last, again := latest[name]; again && last > n && name != document.Unnamed {
				continue
			}
			latest[name] = n
			texts = append(texts, part{p, n, place, 0})
		}
	}
	size := 0
	for _, p := range texts {
		size += len(p.Text)
	}
	if size > room {
		terms := classify.Terms(r.Words)
		for i := range texts {
			texts[i].hits = passage{lines: document.Lines(texts[i].Text)}.countOf(terms)
		}
		slices.SortStableFunc(texts, func(a, b part) int { return cmp.Compare(b.hits, a.hits) })
	}
	kept := shown
	for _, p := range texts {
		if room -= len(p.Text); room < 0 {
			c.left++
			room += len(p.Text)
			continue
		}
		kept = append(kept, p)
	}
	slices.SortFunc(kept, func(a, b part) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.place, b.place)) })
	for n, id := range env.Attached {
		var of []document.Part
		for _, p := range kept {
			if p.of == n {
				of = append(of, p.Part)
			}
		}
		if len(of) == 0 {
			continue
		}
		contents, err := readPictures(ctx, store, r.Owner, id, picturesOf(of))
		if err != nil {
			return c, err
		}
		material := document.JoinParts(of)
		c.texts = append(c.texts, run.Text{Name: earlierMaterialName(id), Content: []byte(material)})
		c.texts = append(c.texts, contents...)
		for _, p := range document.SplitParts(material) {
			p.Text = ""
			c.parts = append(c.parts, p)
		}
	}
	return c, nil
}
