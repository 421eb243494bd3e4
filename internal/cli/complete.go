package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/config"
	"sibyl/internal/council/session"
	"sibyl/internal/inquiry"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/render"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// Bounds of a completion: the time for finding values, the part of it for models of servers on this machine, and the
// number of values offered.
const (
	completionTime = 200 * time.Millisecond
	listingTime    = 120 * time.Millisecond
	mostCompleted  = 200
)

// completions maps commands (their paths below sibyl) and flags (which may follow such a path) to the kind of values
// that complete them. A kind that begins with “=” lists the values.
func completions() map[string]string {
	return map[string]string{
		"ask": "mention", "explain": "run", "replay": "run", "shadow report": "run", "undo": "write",
		"run resume": "open run", "run stop": "open run", "run watch": "run",
		"session show": "session", "session audit": "session", "session export": "session", "session rename": "session",
		"session delete": "session", "council show": "sitting", "council export": "sitting",
		"council rename": "sitting",
		"council delete": "sitting", "council repair": "sitting", "council transcribe": "sitting",
		"council ask": "oracle", "council oracle show": "oracle",
		"inquiry show": "inquiry", "inquiry stop": "inquiry", "inquiry export": "inquiry",
		"task done": "open task", "task edit": "task", "task delete": "task", "task history": "task",
		"user revoke": "user", "user rotate": "user", "user sign-in": "user",
		"tree show": "tree", "mcp trust": "server", "presets show": "preset",
		"config set": "setting", "config get": "setting", "config unset": "setting",
		"config set-key": "key", "config delete-key": "key", "config test": "test",
		"models test": "model",

		"--model": "model", "--user": "user",
		"--session": "sitting", "ask --session": "question", "--conversation": "conversation",
		"sources --run": "answer",
		"--format":      "=md json", "session export --format": "=md html json jsonl", "--status": "=pending completed",
		"--scope": "=read write operate", "--language": "=en de pt",
	}
}

// isCompletion reports whether the shell asks for completions with this command line.
func isCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// setCompletions sets how arguments and flags of a command, and of all its subcommands, are completed.
func (c *command) setCompletions(cmd *cobra.Command, path string, kinds map[string]string) {
	switch kind := kinds[path]; {
	case kind != "":
		cmd.ValidArgsFunction = c.completionFunc(kind)
	case strings.Contains(cmd.Use, "FILE") || strings.Contains(cmd.Use, "FOLDER"): // the shell completes files
	default:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		kind := cmp.Or(kinds[path+" --"+f.Name], kinds["--"+f.Name])
		if option, is := f.Value.(*optionFlag); is {
			kind = option.kind()
		}
		switch {
		case kind == "folder" || valueNames[f.Name] == "FOLDER":
			_ = cmd.MarkFlagDirname(f.Name) // the flag exists
		case kind != "":
			c.completeFlag(cmd, f.Name, kind)
		}
	})
	for _, sub := range cmd.Commands() {
		c.setCompletions(sub, strings.TrimPrefix(path+" "+sub.Name(), " "), kinds)
	}
}

// completeFlag sets how a flag is completed, whatever arguments precede it.
func (c *command) completeFlag(cmd *cobra.Command, name, kind string) {
	complete := c.completionFunc(kind)
	behind := func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return complete(cmd, nil, begun)
	}
	_ = cmd.RegisterFlagCompletionFunc(name, behind) // the flag exists and has none yet
}

// errFiles leaves a completion to the shell: a file can be named here.
var errFiles = errors.New("files stand here")

// completionFunc returns the function that completes values of a kind. Errors and timeouts yield no values, silently.
// It contacts no other machine and writes nothing.
func (c *command) completionFunc(kind string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		takes := strings.Fields(cmd.Use + " ...")[1]
		if several := strings.Contains(takes, "...") || kind == "setting" || kind == "mention"; len(args) > 0 &&
			!several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		lines, err := waitWithin(ctx, func() ([]string, error) {
			v := &values{args: args, begun: begun}
			if words, fixed := strings.CutPrefix(kind, "="); fixed {
				v.addAll(strings.Fields(words)...)
				return v.lines, nil
			}
			err := c.addValues(ctx, v, kind)
			return v.lines, err
		})
		switch {
		case errors.Is(err, errFiles):
			return nil, cobra.ShellCompDirectiveDefault
		case err != nil:
			return nil, cobra.ShellCompDirectiveNoFileComp
		case len(lines) > 0 && !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasSuffix(l, "/") }):
			return lines, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return lines, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// waitWithin returns the result of do, or the cause of ctx if that ends first; do then still runs, unobserved.
func waitWithin[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		value, err := do()
		replies <- reply{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	case r := <-replies:
		return r.value, r.err
	}
}

// values collects the completions of one word, in cobra's format.
type values struct {
	args  []string // the arguments before it
	begun string   // its beginning, already typed
	lines []string
}

// add offers a word and its description, if it begins with what is typed, is no argument yet and has no space. It keeps
// at most mostCompleted.
func (v *values) add(word, says string) {
	endsWord := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) } // shells would split it
	fits := word != "" && strings.HasPrefix(word, v.begun) && !strings.ContainsFunc(word, endsWord)
	if !fits || slices.Contains(v.args, word) || len(v.lines) == mostCompleted {
		return
	}
	if says = strings.Join(strings.Fields(render.Clean(says)), " "); says != "" {
		word = cobra.CompletionWithDesc(word, says)
	}
	v.lines = append(v.lines, word)
}

func (v *values) addAll(words ...string) {
	for _, word := range words {
		v.add(word, "")
	}
}

// latestOne is the name for the latest session or run.
const latestOne = "last"

// addValues adds the values of a kind; errFiles leaves them to the shell.
func (c *command) addValues(ctx context.Context, v *values, kind string) error {
	cfg, err := c.settingsWithoutStored()
	if err != nil {
		return err
	}
	a, err := app.Prepare(cfg)
	if err != nil {
		return err
	}
	switch kind {
	case "mention":
		return v.addFiles(c.env("HOME"))
	case "model":
		v.addAll(knownModels(ctx, a)...)
	case "witness":
		if v.addAll(knownModels(ctx, a)...); v.begun == "" || len(v.lines) == 0 {
			return errFiles
		}
	case "setting":
		return v.addSettings(ctx, a)
	case "key":
		v.addAll(cfg.KeyNames()...)
	case "server":
		v.addAll(slices.Sorted(maps.Keys(cfg.MCP.Servers))...)
	case "test":
		v.addAll(testable(a)...)
	case "tree":
		all, err := a.Trees.All()
		for _, t := range all {
			v.add(t.Name, t.File)
		}
		return err
	case "write":
		all, err := a.Writes(ctx, c.owner())
		for _, w := range all {
			v.add(w.ID, w.Path)
		}
		return err
	case "oracle":
		all, err := a.Oracles().List(ctx)
		for _, p := range all.Oracles {
			v.add(p.Slug, p.Name)
		}
		return err
	case "preset":
		all, _, err := app.NewPresets(cfg).List(ctx)
		for _, p := range all {
			v.add(p.Name, p.About)
		}
		return err
	case "sitting":
		folder, err := session.Open(session.Config{Folder: cfg.SessionsOf(c.user, c.owner() == app.Owner)})
		if err != nil {
			return err
		}
		all, _, err := folder.List(ctx)
		for _, s := range all {
			v.add(s.ID, s.Name)
		}
		return err
	default:
		db, err := app.OpenToRead(ctx, cfg)
		if err != nil {
			return err
		}
		return errors.Join(c.addValuesOfDatabase(ctx, v, db, kind), db.Close())
	}
	return nil
}

func (c *command) addValuesOfDatabase(ctx context.Context, v *values, db app.Database, kind string) error {
	switch kind {
	case "session", "question", "conversation":
		f := journal.SessionFilter{Limit: mostCompleted}
		switch kind {
		case "question":
			f.Assistant = oracle.Name
		case "conversation":
			f.Assistant = taskchat.Name
			v.add(newConversation, "")
		}
		all, err := db.Sessions(ctx, c.owner(), f)
		for i, s := range all {
			if i == 0 {
				v.add(latestOne, "")
			}
			v.add(s.ID, titleAndFolder(c, s))
		}
		return err
	case "task", "open task":
		f := task.Filter{Limit: mostCompleted}
		if kind == "open task" {
			f.Status = task.Pending
		}
		all, err := db.Tasks(ctx, c.user, f)
		for _, t := range all {
			v.add(strconv.FormatInt(t.ID, 10), t.Title)
		}
		return err
	case "user":
		all, err := db.Users(ctx)
		for _, u := range all {
			if u.RevokedAt.IsZero() {
				v.add(u.Name, "")
			}
		}
		return err
	}
	f := journal.Filter{Limit: mostCompleted}
	switch kind {
	case "answer":
		f.Assistant = oracle.Name
	case "inquiry":
		f.Assistant = inquiry.Name
	case "open run":
		f.Status = journal.Running
	}
	all, err := db.Runs(ctx, c.owner(), f)
	for i, r := range all {
		if kind == "inquiry" {
			v.add(cmp.Or(r.Session, r.ID), r.Title)
			continue
		}
		if i == 0 {
			v.add(latestOne, "")
		}
		v.add(r.ID, r.Title)
	}
	return err
}

// knownModels returns the models in the settings, defaults of providers, and those that local servers list in time.
func knownModels(ctx context.Context, a *app.App) []string {
	ctx, cancel := context.WithTimeout(ctx, listingTime)
	defer cancel()
	cfg := a.Config
	known := append([]string{cfg.Model, cfg.Inquiry.Witness, offlineName + ":rules"}, cfg.Fallback.Models...)
	known = slices.AppendSeq(known, maps.Keys(cfg.Prices.Models))
	for _, p := range a.Models {
		if p.Missing != "" {
			continue
		}
		names := []string{p.Default}
		if p.Local {
			listed, _ := p.List(ctx) // one that does not answer lists none
			names = append(names, listed...)
		}
		for _, name := range names {
			known = append(known, p.Name+":"+name)
		}
	}
	known = slices.DeleteFunc(known, func(id string) bool {
		provider, name := model.SplitID(id)
		isProvider := slices.ContainsFunc(a.Models, func(p model.Provider) bool { return p.Name == provider })
		return name == "" || strings.Contains(name, "*") || !isProvider
	})
	slices.Sort(known)
	return slices.Compact(known)
}

// addSettings offers the names of settings or, after a name, its possible values.
func (v *values) addSettings(ctx context.Context, a *app.App) error {
	providers, servers := slices.Sorted(maps.Keys(a.Config.Providers)), slices.Sorted(maps.Keys(a.Config.MCP.Servers))
	for _, h := range config.Hints(providers, servers) {
		switch {
		case len(v.args) == 0:
			v.add(h.Name, strings.Join(h.Choices, ", "))
		case h.Name != v.args[0] || len(v.args) > 1 && !h.List:
		case h.Model:
			v.addAll(knownModels(ctx, a)...)
		case h.Path:
			return errFiles
		default:
			v.addAll(h.Choices...)
		}
	}
	return nil
}

// addFiles offers files after an @; a word without one is left to the shell.
func (v *values) addFiles(home string) error {
	typed, ok := strings.CutPrefix(v.begun, "@")
	if !ok {
		return errFiles
	}
	names, err := conversation.Paths(home, typed, false)
	for _, name := range names {
		if !strings.ContainsFunc(name, unicode.IsSpace) { // the shell would split it
			v.add("@"+name, "")
		}
	}
	return err
}
