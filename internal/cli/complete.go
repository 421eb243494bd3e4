package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/council/session"
	"sibyl/internal/inquiry"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/task"
)

// The bounds of a completion: of the time that looking for values may take, and of how many are offered.
const (
	completionTime = 200 * time.Millisecond
	mostCompleted  = 200
)

// offered is what may stand at a place of a command line: the word, and what a person knows it by.
type offered struct{ word, says string }

// offeredWords are offers that explain themselves.
func offeredWords(all ...string) (out []offered) {
	for _, w := range all {
		out = append(out, offered{word: w})
	}
	return out
}

// lookup finds what may stand at a place. args are the arguments before it, begun is what is typed of it already.
type lookup func(ctx context.Context, v *values, args []string, begun string) ([]offered, error)

// completing makes a lookup one of the shell's: what it does not find in time, or at all, is not offered, and nothing is said of it. Nobody is
// asked over the network, and nothing is written.
func (c *command) completing(find lookup) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		found := make(chan reply, 1)
		go func() { found <- c.find(ctx, find, args, begun) }() // what is late is left behind: the process ends
		select {
		case <-ctx.Done():
			return nil, cobra.ShellCompDirectiveNoFileComp
		case r := <-found:
			if r.files {
				return nil, cobra.ShellCompDirectiveDefault
			}
			lines := fittingLines(r.all, args, begun)
			if len(lines) > 0 && !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasSuffix(l, "/") }) {
				return lines, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			}
			return lines, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
	}
}

// errFiles says that a file of the person's may stand at a place, which the shell knows better.
var errFiles = errors.New("files stand here")

// reply is what a lookup gave: offers, or that the shell is to look for files.
type reply struct {
	all   []offered
	files bool
}

func (c *command) find(ctx context.Context, find lookup, args []string, begun string) reply {
	v, err := c.values()
	if err != nil {
		return reply{}
	}
	defer v.close()
	all, err := find(ctx, v, args, begun)
	if err != nil {
		return reply{files: errors.Is(err, errFiles)}
	}
	return reply{all: all}
}

// fittingLines writes as cobra wants it what goes on with what is typed, and was not given yet.
func fittingLines(all []offered, args []string, begun string) (lines []string) {
	for _, o := range all {
		if !strings.HasPrefix(o.word, begun) || slices.Contains(args, o.word) || o.word == "" || strings.ContainsFunc(o.word, isBlank) {
			continue
		}
		line := o.word
		if says := strings.Join(strings.Fields(render.Clean(o.says)), " "); says != "" {
			line = cobra.CompletionWithDesc(line, says)
		}
		if lines = append(lines, line); len(lines) == mostCompleted {
			break
		}
	}
	return lines
}

// isBlank says that a character can't be in a word that is completed: shells take it for the end of it.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// values are what is there to be named, as the settings and the journal have it.
type values struct {
	c   *command
	cfg config.Config
	a   *app.App
	db  app.Database // nil until it is wanted
}

func (c *command) values() (*values, error) {
	options := c.options()
	options.Stored = nil // no key is wanted
	cfg, err := config.Load(options)
	if err != nil {
		return nil, err
	}
	if c.dataDir != "" {
		cfg.DataDir, cfg.Database = c.dataDir, config.Database{}
	}
	if c.database != "" {
		if cfg.Database, err = config.ParseDatabase(c.database); err != nil {
			return nil, err
		}
	}
	a, err := app.Prepare(cfg)
	return &values{c: c, cfg: cfg, a: a}, err
}

func (v *values) journal(ctx context.Context) (db app.Database, err error) {
	if v.db == nil {
		v.db, err = app.OpenToRead(ctx, v.cfg)
	}
	return v.db, err
}

func (v *values) close() {
	if v.db != nil {
		_ = v.db.Close() // nothing was written
	}
}

// latestOne is the name of the latest, where one is wanted.
const latestOne = "last"

// runIDs offers the runs of a filter.
func runIDs(f journal.Filter) lookup {
	return func(ctx context.Context, v *values, args []string, _ string) ([]offered, error) {
		db, err := v.journal(ctx)
		if err != nil || len(args) > 0 {
			return nil, err
		}
		f.Limit = mostCompleted
		all, err := db.Runs(ctx, v.c.owner(), f)
		if err != nil || len(all) == 0 {
			return nil, err
		}
		out := offeredWords(latestOne)
		for _, r := range all {
			out = append(out, offered{r.ID, r.Title})
		}
		return out, nil
	}
}

// sessionIDs offers the sessions of an assistant; "": of all.
func sessionIDs(assistant string, beside ...string) lookup {
	return func(ctx context.Context, v *values, _ []string, _ string) ([]offered, error) {
		db, err := v.journal(ctx)
		if err != nil {
			return nil, err
		}
		all, err := db.Sessions(ctx, v.c.owner(), journal.SessionFilter{Assistant: assistant, Limit: mostCompleted})
		out := offeredWords(beside...)
		if len(all) > 0 {
			out = append(out, offered{word: latestOne})
		}
		for _, s := range all {
			out = append(out, offered{s.ID, placed(v.c, s)})
		}
		return out, err
	}
}

// firstAlone has a lookup for the first argument alone.
func firstAlone(find lookup) lookup {
	return func(ctx context.Context, v *values, args []string, begun string) ([]offered, error) {
		if len(args) > 0 {
			return nil, nil
		}
		return find(ctx, v, args, begun)
	}
}

func inquiryIDs(ctx context.Context, v *values, _ []string, _ string) (out []offered, err error) {
	db, err := v.journal(ctx)
	if err != nil {
		return nil, err
	}
	all, err := db.Runs(ctx, v.c.owner(), journal.Filter{Assistant: inquiry.Name, Limit: mostCompleted})
	for _, r := range all {
		out = append(out, offered{cmp.Or(r.Session, r.ID), r.Title})
	}
	return out, err
}

func taskIDs(f task.Filter) lookup {
	return func(ctx context.Context, v *values, _ []string, _ string) (out []offered, err error) {
		db, err := v.journal(ctx)
		if err != nil {
			return nil, err
		}
		f.Limit = mostCompleted
		all, err := db.Tasks(ctx, string(v.c.owner()), f)
		for _, t := range all {
			out = append(out, offered{strconv.FormatInt(t.ID, 10), t.Title})
		}
		return out, err
	}
}

func userNames(ctx context.Context, v *values, _ []string, _ string) (out []offered, err error) {
	db, err := v.journal(ctx)
	if err != nil {
		return nil, err
	}
	all, err := db.Users(ctx)
	for _, u := range all {
		if u.RevokedAt.IsZero() {
			out = append(out, offered{word: u.Name})
		}
	}
	return out, err
}

// sittingIDs offers the sessions of the Council.
func sittingIDs(ctx context.Context, v *values, _ []string, _ string) (out []offered, err error) {
	folder, err := session.Open(session.Config{Folder: v.cfg.SessionsOf(v.c.user, v.c.owner() == app.Owner)})
	if err != nil {
		return nil, err
	}
	all, _, err := folder.List(ctx)
	for _, s := range all {
		out = append(out, offered{s.ID, s.Name})
	}
	return out, err
}

func oracleNames(ctx context.Context, v *values, _ []string, _ string) (out []offered, err error) {
	all, err := v.a.Oracles().List(ctx)
	for _, p := range all.Oracles {
		out = append(out, offered{p.Slug, p.Name})
	}
	return out, err
}

// modelNames offers what the settings name and what servers listed when they were last asked.
func modelNames(_ context.Context, v *values, _ []string, _ string) ([]offered, error) {
	known := slices.Concat([]string{v.cfg.Model, v.cfg.Inquiry.Witness, offlineName + ":rules"}, v.cfg.Fallback.Models, seenModels(v.cfg.DataDir))
	for _, p := range v.a.Models {
		if p.Missing == "" && p.Default != "" {
			known = append(known, p.Name+":"+p.Default)
		}
	}
	for name := range v.cfg.Prices.Models {
		known = append(known, name)
	}
	known = slices.DeleteFunc(known, func(id string) bool { return !strings.Contains(id, ":") || strings.Contains(id, "*") })
	slices.Sort(known)
	return offeredWords(slices.Compact(known)...), nil
}

func treeNames(_ context.Context, v *values, _ []string, _ string) (out []offered, err error) {
	all, err := v.a.Trees.All()
	for _, t := range all {
		says := t.File
		if t.Embedded {
			says = "built in"
		}
		out = append(out, offered{t.Name, says})
	}
	return out, err
}

func assistants(_ context.Context, v *values, _ []string, _ string) ([]offered, error) {
	all, err := v.a.TreeAssistants()
	return offeredWords(all...), err
}

// settingNames offers the names of settings, and, behind one, what it may be.
func settingNames(ctx context.Context, v *values, args []string, begun string) (out []offered, err error) {
	hints := config.Hints(slices.Sorted(maps.Keys(v.cfg.Providers)), slices.Sorted(maps.Keys(v.cfg.MCP.Servers)))
	if len(args) == 0 {
		for _, h := range hints {
			out = append(out, offered{h.Name, strings.Join(h.Choices, ", ")})
		}
		return out, nil
	}
	for _, h := range hints {
		switch {
		case h.Name != args[0] || len(args) > 1 && !h.List:
		case h.Model:
			return modelNames(ctx, v, args, begun)
		case h.Path:
			return nil, errFiles
		default:
			return offeredWords(h.Choices...), nil
		}
	}
	return nil, nil
}

// mentions offers the files that a question may name as @path.
func mentions(_ context.Context, v *values, _ []string, begun string) (out []offered, err error) {
	typed, ok := strings.CutPrefix(begun, "@")
	if !ok {
		return nil, errFiles
	}
	folder, start := filepath.Split(typed)
	look := cmp.Or(folder, ".")
	if rest, below := strings.CutPrefix(look, "~/"); below {
		look = filepath.Join(v.c.env("HOME"), rest)
	}
	entries, err := os.ReadDir(look)
	for _, e := range entries {
		name := "@" + folder + e.Name()
		if e.IsDir() {
			name += "/"
		}
		if !strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(start, ".") {
			out = append(out, offered{word: name})
		}
	}
	return out, err
}

// witnesses offers models where one is begun, and else files.
func witnesses(ctx context.Context, v *values, args []string, begun string) ([]offered, error) {
	all, err := modelNames(ctx, v, args, begun)
	if err != nil || begun == "" || len(fittingLines(all, nil, begun)) == 0 {
		return nil, errFiles
	}
	return all, nil
}

func writeIDs(ctx context.Context, v *values, _ []string, _ string) (out []offered, err error) {
	all, err := v.a.Writes(ctx, v.c.owner())
	for _, w := range all {
		out = append(out, offered{w.ID, w.Path})
	}
	return out, err
}

func keyNames(_ context.Context, v *values, _ []string, _ string) ([]offered, error) {
	return offeredWords(v.cfg.KeyNames()...), nil
}

func mcpNames(_ context.Context, v *values, _ []string, _ string) ([]offered, error) {
	return offeredWords(slices.Sorted(maps.Keys(v.cfg.MCP.Servers))...), nil
}

func tested(_ context.Context, v *values, _ []string, _ string) ([]offered, error) {
	return offeredWords(testable(v.a)...), nil
}
