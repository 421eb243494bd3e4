package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sibyl/internal/tool"
)

// made is a call that reached a tool.
type made struct{ Name, Args, Key, Owner string }

// world is what the tools act on: places to find and read, and notes that were written. It is safe for concurrent use.
type world struct {
	mu    sync.Mutex
	tools map[string]tool.Tool
	calls []made
	notes map[string]string // content that was written, by key of the call
}

// newWorld has the tools that an assembled Sibyl has, in small: a search that finds one place in each source, readers
// that open what they are asked for, and one tool that writes.
func newWorld() *world {
	w := &world{tools: map[string]tool.Tool{}, notes: map[string]string{}}
	search := func(name string, s tool.Source, ref tool.Ref) {
		ref.Source = s
		spec := tool.Spec{Name: name, Description: "Finds places by words.", Source: s, Search: true}
		if s == tool.Web {
			spec.Foreign, spec.Out = true, tool.Out{To: tool.ToEngine, Arg: "query"}
		}
		w.add(spec, finds(ref))
	}
	search("code_search", tool.Code, tool.Ref{Path: "auth/middleware.go", Start: 10, End: 30})
	search("vault_search", tool.Vault, tool.Ref{Path: "decisions/caching.md", Start: 3, End: 9})
	search("thread_seek", tool.Vault, tool.Ref{Path: "threads/caching.md", Start: 5, End: 8})
	search("web_search", tool.Web, tool.Ref{URL: "https://weather.example/paris"})
	w.add(tool.Spec{Name: "code_read", Description: "Opens lines of a file.", Source: tool.Code},
		opens(tool.Code, "line of code"))
	w.add(tool.Spec{Name: "vault_read", Description: "Opens a note.", Source: tool.Vault},
		opens(tool.Vault, "line of a note"))
	w.add(tool.Spec{Name: "web_fetch", Description: "Opens a page.", Source: tool.Web, Foreign: true,
		Out: tool.Out{To: tool.ToAddress, Arg: "url"}}, opens(tool.Web, "line of a page"))
	w.addTool(&writer{fake: fake{world: w, spec: tool.Spec{Name: "vault_write", Description: "Writes a note.",
		Source: tool.Vault, Effect: tool.Once, Target: "path"}}})
	return w
}

// does is what a fake tool does with a call.
type does func(tool.Call) (tool.Result, error)

func (w *world) addTool(t tool.Tool) { w.tools[t.Spec().Name] = t }

func (w *world) add(spec tool.Spec, do does) {
	if spec.Effect == "" {
		spec.Effect = tool.Repeatable
	}
	w.addTool(&fake{world: w, spec: spec, do: do})
}

// replaceTool gives a tool another behaviour.
func (w *world) replaceTool(name string, do does) {
	spec := w.tools[name].Spec()
	w.add(spec, do)
}

// removeTools takes tools away.
func (w *world) removeTools(names ...string) {
	for _, n := range names {
		delete(w.tools, n)
	}
}

func (w *world) registry() *tool.Set {
	return tool.NewSet(slices.Collect(maps.Values(w.tools))...)
}

func (w *world) recordCall(name string, c tool.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, made{Name: name, Args: string(c.Args), Key: c.Key, Owner: c.Owner})
}

// called lists the tools that were reached, in order.
func (w *world) called() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := []string{}
	for _, c := range w.calls {
		names = append(names, c.Name)
	}
	return names
}

// written lists what stands in the world, sorted.
func (w *world) written() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Values(w.notes))
}

type fake struct {
	world *world
	spec  tool.Spec
	do    does
}

func (f *fake) Spec() tool.Spec {
	s := f.spec
	if s.Schema == nil {
		s.Schema = json.RawMessage(`{"type":"object"}`)
	}
	return s
}

func (f *fake) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	f.world.recordCall(f.spec.Name, c)
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	return f.do(c)
}

// writer writes once a key, and can tell.
type writer struct{ fake }

func (w *writer) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	w.world.recordCall(w.spec.Name, c)
	w.world.mu.Lock()
	defer w.world.mu.Unlock()
	w.world.notes[c.Key] = string(c.Args)
	return wrote, nil
}

func (w *writer) Found(_ context.Context, c tool.Call) (tool.Result, bool, error) {
	w.world.mu.Lock()
	defer w.world.mu.Unlock()
	_, was := w.world.notes[c.Key]
	return wrote, was, nil
}

var wrote = tool.Result{Text: "written", Items: 1}

// finds is a search with these hits, which nobody has read.
func finds(refs ...tool.Ref) does {
	return func(tool.Call) (tool.Result, error) {
		r := tool.Result{Items: len(refs), Text: "nothing found"}
		for i, ref := range refs {
			if i == 0 {
				r.Text = ""
			}
			r.Text += ref.String() + "\n"
			r.Refs = append(r.Refs, ref)
		}
		return r, nil
	}
}

// place is what readers are asked for.
type place struct {
	Path  string `json:"path"`
	URL   string `json:"url"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// opens is a reader of any place, whose text is this.
func opens(s tool.Source, text string) does {
	return func(c tool.Call) (tool.Result, error) {
		var p place
		if err := json.Unmarshal(c.Args, &p); err != nil {
			return tool.Result{}, tool.Errorf(tool.InvalidArgs, "", "%w", err)
		}
		ref := tool.Ref{Source: s, Path: p.Path, URL: p.URL, Start: p.Start, End: p.End, Opened: true}
		return tool.Result{Text: ref.String() + "\n" + text + "\n", Refs: []tool.Ref{ref}, Items: 1}, nil
	}
}

// fails is a tool that always fails so.
func fails(kind tool.Kind, hint, message string) does {
	return func(tool.Call) (tool.Result, error) { return tool.Result{}, tool.Errorf(kind, hint, "%s", message) }
}

// errSlow is a tool's own word for the end of its time: not a *tool.Error.
var errSlow = errors.New("gave up")

// lines asks a reader for lines of a file.
func lines(path string, start, end int) string {
	return fmt.Sprintf(`{"path":%q,"start":%d,"end":%d}`, path, start, end)
}
