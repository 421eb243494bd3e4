package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	evaldata "sibyl/eval"
	"sibyl/internal/eval/find"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// evalFindFlags are the flags of ‘sibyl eval find’.
type evalFindFlags struct {
	corpus, set      string
	frozen, failures bool
}

func (c *command) evalFind() *cobra.Command {
	var f evalFindFlags
	cmd := &cobra.Command{Use: "find", Short: "Score how often the first passage is right, compared with two plain searches", Args: cobra.NoArgs,
		Long: "Asks questions about real modules, read from Go's module cache, and about a folder of notes. The\n" +
			"places that answer each question were fixed beforehand. Scores what the Oracle cites without a\n" +
			"model, what its searches return, and for comparison a line search for the question's rarest words\n" +
			"and BM25 over declarations. Exits with 1 if a module is missing. eval/README.md defines every\n" +
			"figure.",
		Example: "  sibyl eval find --failures\n  sibyl eval find --frozen --json\n  sibyl eval find --set my-questions.jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := c.runEvalFind(cmd.Context(), f)
			if err != nil {
				return err
			}
			var missing []string
			for _, m := range report.Missing {
				missing = append(missing, m+" is not in Go's module cache; get it with ‘go mod download "+m+"’")
			}
			return c.scored(report, missing)
		}}
	fl := cmd.Flags()
	fl.StringVar(&f.corpus, "corpus", "", "only questions about modules or notes whose name contains this")
	fl.StringVar(&f.set, "set", "", "a file of questions like eval/find/find-a.jsonl, all of which are asked (default: the built-in sets)")
	fl.BoolVar(&f.frozen, "frozen", false, "the half never used for tuning, instead of the other")
	fl.BoolVar(&f.failures, "failures", false, "list the questions whose first passage is wrong, except those of the frozen half")
	cmd.MarkFlagsMutuallyExclusive("frozen", "failures")
	cmd.MarkFlagsMutuallyExclusive("frozen", "set")
	return c.withJSON(cmd, "one JSON object")
}

func (c *command) runEvalFind(ctx context.Context, f evalFindFlags) (report find.Report, err error) {
	questions, err := findQuestions(f.set)
	if err != nil {
		return report, err
	}
	questions = slices.DeleteFunc(questions, func(q find.Question) bool { return !strings.Contains(q.Corpus, f.corpus) })
	if len(questions) == 0 {
		return report, withCode(ExitUsage, fmt.Errorf("there are no questions about %q", f.corpus))
	}
	err = c.inEvalRoom(ctx, "", func(room *evalRoom) error {
		set := find.Set{Questions: questions, Frozen: f.frozen, Whole: f.set != "", Failures: f.failures, Parallel: evalParallel}
		if set.Folders, err = findFolders(ctx, c.environ, room.dir, questions); err != nil {
			return err
		}
		report, err = find.Run(ctx, set, find.Finder{Name: "oracle", Find: room.findByOracle}, find.Finder{Name: "search", Find: room.findBySearch},
			find.Words(), find.Declarations())
		return err
	})
	return report, err
}

// findQuestions loads the questions of a file, or of all sets that are part of the program.
func findQuestions(set string) ([]find.Question, error) {
	if set != "" {
		files, name := setFile(set, "")
		questions, err := find.Load(files, name)
		if err != nil {
			err = withCode(ExitUsage, err)
		}
		return questions, err
	}
	names, err := fs.Glob(evaldata.Files, evaldata.FindSets)
	if err != nil {
		return nil, err
	}
	return find.Load(evaldata.Files, names...)
}

// findFolders gives the folder of every corpus that is there. Notes are copied below dir.
func findFolders(ctx context.Context, environ []string, dir string, questions []find.Question) (map[string]string, error) {
	folders := map[string]string{}
	for _, q := range questions {
		if _, known := folders[q.Corpus]; known {
			continue
		}
		folders[q.Corpus] = ""
		if find.IsModule(q.Corpus) {
			if at, err := cachedModule(ctx, environ, q.Corpus); err == nil { // else the report names it
				folders[q.Corpus] = at
			}
			continue
		}
		notes, err := fs.Sub(evaldata.Files, path.Join(evaldata.FindNotes, q.Corpus))
		if err != nil {
			return nil, err
		}
		folders[q.Corpus] = filepath.Join(dir, q.Corpus)
		if err := os.CopyFS(folders[q.Corpus], notes); err != nil {
			return nil, err
		}
	}
	return folders, nil
}

// envOf has the folder of a corpus as the one source.
func envOf(dir string, q find.Question) oracle.Env {
	if find.IsModule(q.Corpus) {
		return oracle.Env{CodeRoot: dir}
	}
	return oracle.Env{Vault: dir}
}

// findByOracle asks the Oracle without a model, as with --in or --vault on the command line. What it cites are the passages.
func (r *evalRoom) findByOracle(ctx context.Context, dir string, q find.Question) (find.Found, error) {
	t, err := r.app.Trees.Get(oracle.Name)
	if err != nil {
		return find.Found{}, err
	}
	named := tool.Vault
	if find.IsModule(q.Corpus) {
		named = tool.Code
	}
	a, err := r.askIn(ctx, t, model.OfflineRules, envOf(dir, q), []string{q.Text}, named)
	return find.Cited(a), err
}

// findBySearch calls the search tool of the corpus with the question.
func (r *evalRoom) findBySearch(ctx context.Context, dir string, q find.Question) (find.Found, error) {
	tools, closeTools, err := r.app.Tools(ctx, envOf(dir, q))
	if err != nil {
		return find.Found{}, err
	}
	defer closeTools()
	name := "vault_search"
	if find.IsModule(q.Corpus) {
		name = "code_search"
	}
	search, ok := tools.Get(name)
	if !ok {
		return find.Found{}, fmt.Errorf("there is no tool %s", name)
	}
	args, err := json.Marshal(map[string]string{"query": q.Text})
	if err != nil {
		return find.Found{}, err
	}
	res, err := search.Call(ctx, tool.Call{Args: args})
	if err != nil {
		return find.Found{}, err
	}
	return find.Hits(res.Data)
}
