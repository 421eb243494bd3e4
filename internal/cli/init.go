package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/config"
	"sibyl/internal/keys"
	"sibyl/internal/model"
	"sibyl/internal/text"
)

// initFlags are the flags of ‘sibyl init’; what they answer is not asked.
type initFlags struct {
	yes, pull    bool
	model, vault string
}

func (c *command) initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{Use: "init", Annotations: map[string]string{ownWords: "yes"},
		Short: "Set Sibyl up: detect what is installed, ask for the rest, test it, and write the settings",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.setUp(cmd.Context(), f) }}
	fl := cmd.Flags()
	fl.BoolVarP(&f.yes, "yes", "y", false, "ask nothing; take the set or suggested model, else the first that calls tools")
	fl.BoolVar(&f.pull, "pull", false,
		"have Ollama load the model if it is not there; without --model, one that fits this machine's memory")
	fl.StringVarP(&f.model, "model", "m", "", "the model to use, by its name or as provider:model")
	fl.StringVar(&f.vault, "vault", "", "folder with your notes")
	return cmd
}

// setup is the state of one ‘sibyl init’: what it has found, and what it will write.
type setup struct {
	*dialogue
	initFlags
	cfg      config.Config
	app      *app.App // prepared with the settings, and with a key that was typed
	path     string   // of the settings file
	served   []served // in the order of the catalog, but first the one whose key was typed
	proposed string   // the model used when none is set; "": none
	write    []config.Text
	tested   map[string]testResult // by model; of those that answered
	key      config.Secret         // of the provider keyOf, to be stored
	keyOf    string
}

// served is a provider, the finding about it, and the models that it lists; none if it can't be used.
type served struct {
	model.Provider
	finding
	names []string
}

func (c *command) setUp(ctx context.Context, f initFlags) error {
	if !f.yes && !c.InTTY {
		return withCode(ExitUsage,
			errors.New("‘sibyl init’ asks questions, but standard input is not a terminal: use --yes, and say what "+
				"you want with --model and --vault"))
	}
	s := &setup{dialogue: &dialogue{c}, initFlags: f, tested: map[string]testResult{}}
	var err error
	if s.cfg, err = c.settings(); err != nil {
		return err
	}
	if s.path, err = config.Path(c.options()); err != nil {
		return withCode(ExitUsage, err)
	}
	if s.app, err = app.Prepare(s.cfg); err != nil {
		return withCode(ExitUsage, err)
	}
	s.served = listProviders(ctx, s.app)
	if id, err := s.app.Models.Choose(ctx, ""); err == nil && slices.Contains(s.ids(), id) {
		s.proposed = id
	}
	s.proposed = s.best(ctx)
	s.reportProviders()
	err = s.chooseAndWrite(ctx)
	if errors.Is(err, errNoMore) || ctx.Err() != nil {
		fmt.Fprintln(c.Err, "\n· nothing was written")
	}
	return err
}

// chooseAndWrite chooses and tests a model, chooses the other settings, and writes all after a confirmation.
func (s *setup) chooseAndWrite(ctx context.Context) error {
	if err := s.chooseModel(ctx); err != nil {
		return err
	}
	for again := true; again; {
		var err error
		if again, err = s.tryModel(ctx); err == nil && again {
			err = s.askModel(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := s.keepAddress(); err != nil {
		return err
	}
	if err := s.chooseVault(ctx); err != nil {
		return err
	}
	return s.finish(ctx)
}

// listProviders asks all providers but the offline one for their models, concurrently, with a finding for each.
func listProviders(ctx context.Context, a *app.App) (all []served) {
	for _, o := range model.NewOffers(a.Models, nil).All(ctx) {
		if o.Name == offlineName {
			continue
		}
		s := served{Provider: o.Provider}
		for _, m := range o.Models {
			s.names = append(s.names, strings.TrimPrefix(m.ID, o.Name+":"))
		}
		if s.finding = listed(a.Config, o.Provider, len(s.names), o.Err); s.Says == "" {
			s.OK, s.Says = true, text.Count(len(s.names), "model")
			if from, by := a.Config.KeyOrigin(s.Name); by != "" {
				s.Says += fmt.Sprintf("; its key comes from the %s (%s)", from, by)
			}
		}
		s.Says = a.Redact(s.Says)
		all = append(all, s)
	}
	return all
}

// reportProviders prints a line for each provider, for the web search and for git.
func (s *setup) reportProviders() {
	lines := []finding{}
	for _, one := range s.served {
		lines = append(lines, one.finding)
	}
	web := finding{What: "web search", OK: true, Says: s.cfg.Web.Engine + " is set up"}
	if missing := s.cfg.Web.Missing(); missing != "" {
		web = finding{What: web.What, Says: "not set up", Fix: missing}
	}
	git := finding{What: "git", OK: true, Says: "is installed: questions about a project's history can be answered"}
	if _, err := exec.LookPath("git"); err != nil {
		git = finding{What: git.What, Says: "is not there", Fix: "install it for questions about a project's history"}
	}
	for _, line := range append(lines, web, git) {
		fmt.Fprintln(s.c.Out, line)
	}
}

// ids lists the usable models as PROVIDER:MODEL: of each provider its default if it lists it, else all.
func (s *setup) ids() (all []string) {
	for _, one := range s.served {
		names := one.names
		if one.Default != "" && hasModel(names, one.Default) {
			names = []string{one.Default}
		}
		for _, name := range names {
			all = append(all, one.Name+":"+name)
		}
	}
	return all
}

// best is the best of the models by what is known of them, and of the proposed one; without such models that is it.
func (s *setup) best(ctx context.Context) string {
	var all []model.Candidate
	for _, id := range s.ids() {
		if c := s.app.Models.Contract(id); id == s.proposed || !c.TestedAt.IsZero() {
			all = append(all, model.Candidate{ID: id, Info: s.app.Models.Known(ctx, id), Contract: c})
		}
	}
	if len(all) == 0 {
		return s.proposed
	}
	return model.Best(all).ID
}

// about is what is known of the models, by their ids.
func (s *setup) about(ids []string) map[string]string {
	all := map[string]string{}
	for _, id := range ids {
		all[id] = s.app.Models.About(id)
	}
	return all
}

// usable says why a model can't be used; nil if it is offline, or a working provider has it or defaults to it.
func (s *setup) usable(id string) error {
	name, wanted := model.SplitID(id)
	if name == offlineName {
		return nil
	}
	at := slices.IndexFunc(s.served, func(one served) bool { return one.Name == name })
	switch {
	case at < 0:
		return errors.New("no such provider or model: write PROVIDER:MODEL; ‘sibyl models’ lists them")
	case !s.served[at].OK:
		return fmt.Errorf("%s can't be used: %s: %s", name, s.served[at].Says, s.served[at].Fix)
	case wanted == "" && s.served[at].Default == "" && len(s.served[at].names) > 1:
		return fmt.Errorf("%s has %s: name one, such as %s:%s", name, text.Count(len(s.served[at].names), "model"),
			name, s.served[at].names[0])
	case wanted != "" && wanted != s.served[at].Default && !hasModel(s.served[at].names, wanted):
		if s.served[at].Pull != nil {
			return fmt.Errorf("%s has no model %s; ‘sibyl init --yes --pull -m %s’ loads it", name, wanted, id)
		}
		return fmt.Errorf("%s has no model %s", name, wanted)
	}
	return nil
}

// chooseModel picks the model: of the flags, else the one that is set, else with --yes the proposed one; or it asks.
func (s *setup) chooseModel(ctx context.Context) error {
	ids := s.ids()
	switch {
	case s.yes && s.pull:
		return s.pullUnasked(ctx)
	case s.model != "":
		if id, err := s.app.Models.Find(ctx, s.model); err == nil {
			s.model = id
		} else if several, is := errors.AsType[*model.AmbiguousModelError](err); is {
			return withCode(ExitUsage, fmt.Errorf("--model: %w", several))
		}
		if err := s.usable(s.model); err != nil {
			return withCode(ExitUsage, fmt.Errorf("--model %s: %w", s.model, err))
		}
		s.noteSetting("model", s.cfg.Model, s.model)
		return nil
	case s.cfg.Model != "":
		err := s.usable(s.cfg.Model)
		if err == nil {
			fmt.Fprintln(s.c.Out, finding{What: "model", OK: true, Says: s.cfg.Model + " is set"})
			return nil
		}
		fmt.Fprintln(s.c.Out, finding{What: "model", Says: s.cfg.Model + " is set, but " + err.Error()})
		if s.yes {
			s.c.code = ExitFailed
			return nil
		}
	case s.yes && s.proposed != "":
		s.noteSetting("model", "", s.proposed)
		return nil
	case s.yes && len(ids) > 0:
		return s.takeUnasked(ctx, ids)
	case s.yes:
		s.suggestPull(ctx)
		return nil
	}
	return s.askModel(ctx)
}

// askModel asks for a model until a usable one or none is chosen; meanwhile keys can be typed and models loaded.
func (s *setup) askModel(ctx context.Context) error {
	for {
		keyless := s.keyless()
		var typed string
		var err error
		if ids := s.ids(); len(ids) > 0 {
			prompt := "Number or name"
			if len(keyless) > 0 {
				prompt += fmt.Sprintf(" (or %s, if you have a key)", agent.Listed(keyless, "or"))
			}
			typed, err = s.choose(ctx, choice{title: "\nWhich model should answer?",
				prompt: prompt, offered: ids, usual: s.defaultModel(ids), about: s.about(ids),
				own: func(typed string) bool {
					return typed == "none" || typed == ofThisMachine || slices.Contains(keyless, typed)
				}})
		} else {
			typed, err = s.askSource(ctx, keyless)
		}
		if err == nil && typed == ofThisMachine {
			typed, err = s.askLocal(ctx)
		}
		switch {
		case err != nil:
			return err
		case typed == again:
			continue
		case typed == "" || typed == "none":
			return nil
		case slices.Contains(keyless, typed):
			if err := s.askKey(ctx, typed); err != nil {
				return err
			}
			continue
		}
		if err := s.usable(typed); err != nil {
			fmt.Fprintln(s.c.Err, "· "+printable(err.Error()))
			continue
		}
		s.noteSetting("model", s.cfg.Model, typed)
		return nil
	}
}

// defaultModel is the model that Enter selects: the proposed one, else the first of a short list; "" means none.
func (s *setup) defaultModel(ids []string) string {
	if s.proposed == "" && len(ids) <= mostOffered {
		return ids[0]
	}
	return s.proposed
}

// keyless lists the providers that can't be used and whose keys can be stored.
func (s *setup) keyless() (names []string) {
	for _, one := range s.served {
		if !one.OK && !one.Probe && config.CheckName(one.Name, s.cfg.KeyNames()) == nil {
			names = append(names, one.Name)
		}
	}
	return names
}

// askKey asks for the key of a provider and tests it. finish stores a key that works; one that does not is reported
// and dropped, with a nil error. The models of the provider are then first in s.served, and none is proposed.
func (s *setup) askKey(ctx context.Context, name string) error {
	key, err := s.c.readKey(ctx, name)
	if wrong, is := errors.AsType[*exitError](err); is && wrong.code == ExitUsage {
		fmt.Fprintln(s.c.Err, "· "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	opts := s.c.options()
	opts.Stored = func(at config.KeyPlaces) ([]string, error) {
		stored, err := keys.Names(at)
		return append(stored, name), err
	}
	cfg, err := config.Load(opts)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	p := cfg.Providers[name]
	p.EnvKey = key // as if from a variable: it is stored only after it has worked
	cfg.Providers[name] = p
	fmt.Fprintf(s.c.Err, "· listing the models of %s\n", name)
	a, err := app.Prepare(cfg)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	all := listProviders(ctx, a)
	at := slices.IndexFunc(all, func(one served) bool { return one.Name == name })
	if !all[at].OK {
		fmt.Fprintf(s.c.Err, "· this key does not work: %s\n", printable(all[at].Says))
		return nil
	}
	works := all[at]
	all = slices.Insert(slices.Delete(all, at, at+1), 0, works) // offered first
	s.app, s.served, s.proposed, s.key, s.keyOf = a, all, "", key, name
	return nil
}

// chooseVault picks the folder of notes: --vault, else the one that is set; else, without --yes, it asks.
func (s *setup) chooseVault(ctx context.Context) error {
	switch {
	case s.vault != "":
		folder, err := conversation.Folder(s.c.home(), s.vault)
		if err != nil {
			return withCode(ExitUsage, fmt.Errorf("--vault: %w", err))
		}
		s.noteSetting("vault", s.cfg.Vault, folder)
		return nil
	case s.cfg.Vault != "":
		fmt.Fprintln(s.c.Out, finding{What: "notes", OK: true, Says: s.cfg.Vault + " is set"})
		return nil
	case s.yes:
		return nil
	}
	found := findNotes(ctx, s.c.home())
	for {
		var typed string
		var err error
		if len(found) > 0 {
			typed, err = s.choose(ctx, choice{title: "\nWhich folder has your notes?",
				prompt: "Number or path, - for none", offered: found, usual: found[0],
				own: func(typed string) bool { return typed == "-" || strings.ContainsAny(typed, `~/\`) }})
		} else {
			typed, err = s.ask(ctx, "\nWhich folder has your notes? Its path [none]: ")
		}
		if err != nil {
			return err
		}
		if typed == "" || typed == "-" || typed == "none" {
			return nil
		}
		folder, err := conversation.Folder(s.c.home(), typed)
		if err == nil {
			s.noteSetting("vault", "", folder)
			return nil
		}
		fmt.Fprintln(s.c.Err, "· "+printable(err.Error()))
	}
}

// noteSetting adds a setting to those to be written, unless it has that value already.
func (s *setup) noteSetting(name, was, value string) {
	if was != value {
		s.write = append(s.write, config.Text{Name: name, Value: value})
	}
}

// finish shows what is to be written, asks unless --yes was given, and stores the key and the settings.
func (s *setup) finish(ctx context.Context) error {
	if len(s.write) == 0 && s.keyOf == "" {
		fmt.Fprintln(s.c.Out, "There is nothing to write.")
		return nil
	}
	if len(s.write) > 0 {
		fmt.Fprintf(s.c.Out, "\nFor %s:\n", printable(s.c.tilde(s.path)))
		for _, one := range s.write {
			fmt.Fprintf(s.c.Out, "  %s: %s\n", one.Name, printable(one.Value))
		}
		if to := s.notesGoTo(); to != "" {
			fmt.Fprintf(s.c.Out, "Questions about your notes will send passages of them to %s.\n", to)
		}
	}
	if s.keyOf != "" {
		fmt.Fprintf(s.c.Out, "To the system keyring, or an encrypted file: the key of %s\n", s.keyOf)
	}
	if !s.yes {
		typed, err := s.ask(ctx, "Write this? [Y/n] ")
		if err != nil {
			return err
		}
		if !slices.Contains([]string{"", "y", "yes"}, strings.ToLower(typed)) {
			fmt.Fprintln(s.c.Err, "· nothing was written")
			return nil
		}
	}
	if s.keyOf != "" {
		place, err := keys.New(s.cfg.Keys).Set(ctx, s.keyOf, s.key)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.c.Out, "The key of %s was stored in %s.\n", s.keyOf, placeInWords(place, s.cfg))
	}
	return s.writeSettings()
}

// notesGoTo names the remote provider that will be sent passages of the notes to be set; "" if there is none.
func (s *setup) notesGoTo() string {
	id, notes := s.cfg.Model, false
	for _, one := range s.write {
		switch one.Name {
		case "model":
			id = one.Value
		case "vault":
			notes = true
		}
	}
	name, _ := model.SplitID(id)
	away := slices.ContainsFunc(s.served, func(one served) bool { return one.Name == name && !one.Local })
	if !notes || !away {
		return ""
	}
	return name
}

// writeSettings writes s.write to the settings file and prints what overrides it or is still wrong.
func (s *setup) writeSettings() error {
	if len(s.write) == 0 {
		return nil
	}
	done, err := config.SetTexts(s.c.options(), s.write)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	fmt.Fprintf(s.c.Out, "Written. Try it: sibyl ask \"How are errors handled here?\"\n")
	if done.Overridden != "" {
		fmt.Fprintf(s.c.Err, "· but the environment variable %s is set and takes precedence over %s in the file\n",
			done.Overridden, s.write[0].Name)
	}
	s.c.reportRemainingProblems(done.Left)
	return nil
}
