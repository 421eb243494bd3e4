package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/journal"
	"sibyl/internal/service"
)

// askingFlags are the flags of ‘sibyl council ask’.
type askingFlags struct {
	session            string
	history, noHistory bool
	dryRun             bool
	rounds             int
	review             bool
	chair, model       string
}

func (c *command) councilAsk() *cobra.Command {
	var f askingFlags
	cmd := &cobra.Command{Use: "ask ORACLE...", Short: "Have oracles answer what was said", Args: cobra.MinimumNArgs(1),
		Long: "Has one or more oracles answer, each with the whole session as context: what was said and, unless\n" +
			"--no-history, earlier answers of oracles. Name an oracle by its name, the beginning of it, or its id\n" +
			"(‘sibyl council oracles’). Several oracles answer side by side from the same context; a model then\n" +
			"says where they agree, where they differ, and what all of them overlook. Answers are stored in the\n" +
			"session's folder.",
		Example: "  sibyl council ask cético\n  sibyl council ask skeptic optimist --rounds 2\n  sibyl council ask cético visionário otimista --review --chair cético\n  sibyl council ask cético --dry-run",
		RunE: c.onSitting(&f.session, func(ctx context.Context, s sitting, args []string) error {
			o := council.Options{Session: s.ID, Oracles: args, Rounds: f.rounds, Review: f.review, Chair: f.chair, Model: f.model}
			switch {
			case f.rounds < 1:
				return withCode(ExitUsage, fmt.Errorf("--rounds is %d; use 1 to %d", f.rounds, council.MostRounds))
			case f.history && f.noHistory:
				return withCode(ExitUsage, errors.New("--history and --no-history can't be used together"))
			case f.history || f.noHistory:
				o.History = &f.history
			}
			if f.dryRun {
				return s.preview(ctx, o)
			}
			return s.ask(ctx, o)
		})}
	fl := cmd.Flags()
	fl.BoolVar(&f.history, "history", false, "include earlier answers of oracles (default: the session's setting)")
	fl.BoolVar(&f.noHistory, "no-history", false, "include only what was said")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the exact prompt and ask no model")
	fl.IntVar(&f.rounds, "rounds", 1, "rounds of debate: from the second on, each oracle reads the others' answers")
	fl.BoolVar(&f.review, "review", false, "each oracle ranks and criticises the others' answers without knowing whose they are")
	fl.StringVar(&f.chair, "chair", "", "the oracle that merges all the answers, naming the author of each sentence")
	fl.StringVarP(&f.model, "model", "m", "", "provider:model (default: the first one available, see ‘sibyl models’)")
	return c.withView(withSession(cmd, &f.session), "one JSON object")
}

// preview prints the prompts that would be sent.
func (s *sitting) preview(ctx context.Context, o council.Options) error {
	all, err := s.desk.Preview(ctx, s.owner(), o)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	if s.asJSON {
		return s.printJSON(all)
	}
	for n, p := range all {
		for _, line := range p.Left {
			s.note("not in the context: %s", line)
		}
		for _, line := range p.Doubted {
			s.note("%s", line)
		}
		if p.Cut != "" {
			s.note("too long for the context: %s", p.Cut)
		}
		if len(all) > 1 {
			s.note("%s, %s", p.Oracle.Name, p.Model)
		}
		if n > 0 {
			fmt.Fprintln(s.Out)
		}
		fmt.Fprintln(s.Out, printable(strings.TrimRight(p.Prompt, "\n")))
	}
	return nil
}

// ask has oracles answer, and shows them as they do.
func (s *sitting) ask(ctx context.Context, o council.Options) error {
	r, err := s.startChoosing(ctx, &o.Model, func() (*service.Run, error) {
		return s.a.Service.Start(ctx, s.owner(), service.Request{Assistant: council.Name, Options: o})
	})
	if err != nil {
		return err
	}
	if len(o.Oracles) == 1 {
		return s.follow(ctx, r)
	}
	p := s.newProgress()
	p.apart = s.ErrTTY && !s.quiet // the board has it
	watching := context.WithoutCancel(ctx)
	board := &board{command: s.command, screen: p.screen, live: p.apart}
	for u := range r.Watch(watching, 0) {
		if u.Event != nil && u.Event.Type == (council.OracleAsked{}).EventType() {
			var asked council.OracleAsked
			if err := json.Unmarshal(u.Event.Data, &asked); err == nil {
				board.follow(watching, s.a.Service, s.owner(), asked.Run, asked.Oracle)
			}
		}
		board.above(func() { p.update(u) })
	}
	board.close()
	p.end()
	res, err := r.Wait(watching)
	if err != nil {
		return err
	}
	return s.answer(p, r, res)
}

// board shows several answers side by side as they are streamed: on a terminal a line for each, with the end of what it has said.
type board struct {
	*command
	screen *screen
	live   bool

	mu    sync.Mutex
	lines []boardLine
	drawn int // lines that stand on the terminal
	all   sync.WaitGroup
	stop  []context.CancelFunc
}

type boardLine struct {
	name  string
	text  string
	ended bool
}

// whenThere is how long a run is waited for that is about to begin.
const whenThere = 10 * time.Second

// follow shows the run of an oracle until it ends.
func (b *board) follow(ctx context.Context, s *service.Service, owner journal.Owner, run, name string) {
	if !b.live {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	b.mu.Lock()
	n := len(b.lines)
	b.lines, b.stop = append(b.lines, boardLine{name: name}), append(b.stop, stop)
	b.mu.Unlock()
	b.all.Go(func() {
		defer b.update(func() { b.lines[n].ended = true })
		for last := time.Now().Add(whenThere); ctx.Err() == nil && time.Now().Before(last); {
			for u, err := range s.Watch(ctx, owner, run, service.Place{}) {
				if errors.Is(err, journal.ErrNotFound) {
					break
				}
				if err != nil {
					return
				}
				last = time.Time{}
				b.update(func() {
					line := &b.lines[n]
					if u.Retract {
						line.text = ""
					}
					line.text += u.Text
				})
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
}

// update changes the board, and draws it anew.
func (b *board) update(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	change()
	b.draw()
}

// above has something printed above the board.
func (b *board) above(print func()) { b.update(print) }

func (b *board) erase() {
	if b.drawn > 0 {
		fmt.Fprintf(b.Err, "\x1b[%dA\r\x1b[J", b.drawn)
		b.drawn = 0
	}
}

func (b *board) draw() {
	if !b.live {
		return
	}
	for _, line := range b.lines {
		if line.ended {
			continue
		}
		said := strings.Join(strings.Fields(line.text), " ")
		head := fmt.Sprintf("  %s │ ", line.name)
		room := b.screen.width() - len([]rune(head)) - 1
		if r := []rune(said); room > 1 && len(r) > room {
			said = "…" + string(r[len(r)-room+1:])
		}
		fmt.Fprintln(b.Err, b.screen.dim(clipLine(head+said, b.screen.width()), true))
		b.drawn++
	}
}

// close ends the board, and takes it away.
func (b *board) close() {
	b.mu.Lock()
	for _, stop := range b.stop {
		stop()
	}
	b.mu.Unlock()
	b.all.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
}

// listedOracle is an oracle in a list.
type listedOracle struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	File     string       `json:"file"`
	Mode     persona.Mode `json:"mode"`
	Language string       `json:"language"`
	Warnings []string     `json:"warnings"`
}

func (c *command) councilOracles() *cobra.Command {
	var check bool
	cmd := &cobra.Command{Use: "oracles", Short: "List the oracles, and check their files", Args: cobra.NoArgs,
		Long: "Lists the oracles: the Markdown files in the folder named by ORACLES_DIR (or the setting\n" +
			"council.oracles), otherwise the built-in ones. With --check, files with errors or warnings make it\n" +
			"fail.",
		RunE: c.onCouncil(func(ctx context.Context, s sitting, _ []string) error {
			list, err := s.desk.Oracles.List(ctx)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			out := struct {
				Oracles []listedOracle    `json:"oracles"`
				Skipped []persona.Skipped `json:"skipped"`
			}{[]listedOracle{}, append([]persona.Skipped{}, list.Skipped...)}
			problems := len(list.Skipped)
			for _, p := range list.Oracles {
				out.Oracles = append(out.Oracles, listedOracle{p.ID, p.Name, p.File, p.Mode, p.Language, append([]string{}, p.Warnings...)})
				problems += len(p.Warnings)
			}
			if check && problems > 0 {
				c.code = ExitFailed
			}
			if c.asJSON {
				return c.printJSON(out)
			}
			for _, p := range out.Oracles {
				fmt.Fprintln(c.Out, printable(fmt.Sprintf("%s  %-20s  %-2s  %s", p.ID, p.Name, p.Language, s.whence(p.File))))
			}
			for _, line := range oracleWarnings(list) {
				fmt.Fprintln(c.Err, printable("· "+line))
			}
			return nil
		})}
	cmd.Flags().BoolVar(&check, "check", false, "exit with 1 if a file has an error or a warning")
	return c.withJSON(cmd, "one JSON object")
}

// whence says where an oracle comes from.
func (s *sitting) whence(file string) string {
	if s.a.Config.Council.Oracles == "" {
		return "built in"
	}
	return file
}

func (c *command) councilOracle() *cobra.Command {
	var language string
	make := &cobra.Command{Use: "new NAME...", Short: "Create the file of a new oracle", Args: cobra.MinimumNArgs(1),
		Example: "  ORACLES_DIR=~/oracles sibyl council oracle new The Accountant",
		RunE: c.onCouncil(func(ctx context.Context, s sitting, args []string) error {
			if !slices.Contains([]string{"en", "pt", "de"}, language) {
				return withCode(ExitUsage, fmt.Errorf("--language is %q; use en, pt or de", language))
			}
			file, err := s.desk.Oracles.Create(ctx, strings.Join(args, " "), language)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			return c.printed(map[string]string{"file": file}, file)
		})}
	make.Flags().StringVar(&language, "language", "en", "language of the file: en, pt or de")
	show := &cobra.Command{Use: "show NAME", Short: "Show an oracle's file", Example: "  sibyl council oracle show skeptic", Args: cobra.ExactArgs(1),
		RunE: c.onCouncil(func(ctx context.Context, s sitting, args []string) error {
			p, err := s.desk.Oracles.Find(ctx, args[0])
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if c.asJSON {
				return c.printJSON(p)
			}
			return writeAll(c.Out, printable(p.Content))
		})}
	return group(&cobra.Command{Use: "oracle", Short: "Create and show oracles",
		Example: "  sibyl council oracle show skeptic"}, c.withJSON(make, "one JSON object"), c.withJSON(show, "one JSON object"))
}
