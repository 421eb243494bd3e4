package find_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	evaldata "sibyl/eval"
	"sibyl/internal/eval/find"
	"sibyl/internal/tool"
	"sibyl/internal/tool/code"
	"sibyl/internal/tool/vault"
)

// The bars, as shares of the questions of a half. The search tools are held to them.
const (
	firstBar = 0.50
	anyBar   = 0.65
)

// searches opens each corpus once, and asks its search tool.
func searches(t *testing.T) find.Finder {
	var mu sync.Mutex
	opened := map[string]tool.Tool{}
	open := func(dir string, q find.Question) (tool.Tool, error) {
		mu.Lock()
		defer mu.Unlock()
		if found := opened[dir]; found != nil {
			return found, nil
		}
		var tools []tool.Tool
		name := "code_search"
		if find.IsModule(q.Corpus) {
			root, err := code.Open(dir)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = root.Close() }) // it was only read
			tools = root.Tools()
		} else {
			v, err := vault.Open(dir)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = v.Close() }) // it was only read
			tools, name = v.Tools(), "vault_search"
		}
		for _, found := range tools {
			if found.Spec().Name == name {
				opened[dir] = found
			}
		}
		return opened[dir], nil
	}
	return find.Finder{Name: "search", Find: func(ctx context.Context, dir string, q find.Question) ([]find.Passage, error) {
		search, err := open(dir, q)
		if err != nil {
			return nil, err
		}
		args, err := json.Marshal(map[string]string{"query": q.Text})
		if err != nil {
			return nil, err
		}
		res, err := search.Call(ctx, tool.Call{Args: args})
		if err != nil {
			return nil, err
		}
		return find.Hits(res.Data)
	}}
}

// folderOf gives the folder of a corpus, "" for a module that is not on this machine.
func folderOf(t *testing.T, corpus string) string {
	if !find.IsModule(corpus) {
		notes, err := fs.Sub(evaldata.Files, path.Join(evaldata.FindNotes, corpus))
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), corpus)
		if err := os.CopyFS(dir, notes); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", corpus)
	list.Dir, list.Env = os.TempDir(), append(os.Environ(), "GOPROXY=off")
	out, err := list.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func loadAll(t *testing.T) []find.Question {
	names, err := fs.Glob(evaldata.Files, evaldata.FindSets)
	if err != nil {
		t.Fatal(err)
	}
	questions, err := find.Load(evaldata.Files, names...)
	if err != nil {
		t.Fatal(err)
	}
	return questions
}

func TestTheFirstPassageIsTheRightOne(t *testing.T) {
	if testing.Short() {
		t.Skip("searches whole modules for each of many questions")
	}
	set := find.Set{Frozen: os.Getenv("FIND_FROZEN") != "", Questions: loadAll(t), Folders: map[string]string{}, Parallel: 2, Failures: true}
	if only := os.Getenv("FIND_ONLY"); only != "" {
		set.Questions = slices.DeleteFunc(set.Questions, func(q find.Question) bool { return !strings.Contains(q.Corpus, only) })
	}
	for _, q := range set.Questions {
		if _, known := set.Folders[q.Corpus]; !known {
			set.Folders[q.Corpus] = folderOf(t, q.Corpus)
		}
	}
	finders := []find.Finder{searches(t)}
	if os.Getenv("FIND_ALL") != "" {
		finders = append(finders, find.Words(), find.Declarations())
	}
	r, err := find.Run(t.Context(), set, finders...)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.All.Tallies[0]; got.First.Part < firstBar || got.Any.Part < anyBar || os.Getenv("FIND_ALL") != "" {
		var report bytes.Buffer
		if err := r.WriteText(&report); err != nil {
			t.Fatal(err)
		}
		t.Errorf("first %s, one of four %s; wanted %.0f and %.0f %%\n%s", got.First, got.Any, 100*firstBar, 100*anyBar, &report)
	}
}
