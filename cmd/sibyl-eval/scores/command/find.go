package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/cmd/sibyl-eval/scores/find"
	evaldata "sibyl/eval"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
	"sibyl/internal/tool"
)

func findCommand(environ []string, print printer) *cobra.Command {
	var f flags
	var corpus string
	cmd := f.of(&cobra.Command{Use: "find", Short: "Score how often the first passage is the right one",
		Args: cobra.NoArgs,
		Long: "Asks questions about real modules, read from Go's module cache, " +
			"and about a folder of notes. The places\n" +
			"that answer each question were fixed beforehand. Scores what the Oracle cites, without a model unless\n" +
			"one is named, and what its searches return. A module that is not there breaks a bound.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			questions, err := findQuestions(f)
			if err != nil {
				return err
			}
			questions = slices.DeleteFunc(questions, func(q find.Question) bool {
				return !strings.Contains(q.Corpus, corpus)
			})
			var r find.Report
			err = within(cmd.Context(), environ, func(room room) error {
				set := find.Set{Questions: questions, Frozen: f.frozen, Whole: f.set != "", Failures: f.failures,
					Parallel: parallel, Folders: map[string]string{}}
				for _, q := range questions {
					if _, known := set.Folders[q.Corpus]; !known {
						// the report names what is missing
						set.Folders[q.Corpus], _ = room.folder(cmd.Context(), environ, q.Corpus)
					}
				}
				oracle := find.Finder{Name: "oracle", Find: func(ctx context.Context, dir string,
					q find.Question) (find.Found, error) {
					return room.findByOracle(ctx, f.model, dir, q)
				}}
				r, err = find.Run(cmd.Context(), set, oracle, find.Finder{Name: "search", Find: room.findBySearch})
				return err
			})
			if err != nil {
				return err
			}
			return print(cmd, r, r.Missing)
		}}, "find/find-a.jsonl")
	cmd.Flags().StringVar(&corpus, "corpus", "", "only questions about modules or notes whose name contains this")
	return cmd
}

func findQuestions(f flags) ([]find.Question, error) {
	if f.set != "" {
		files, name := f.file("")
		return find.Load(files, name)
	}
	names, err := fs.Glob(evaldata.Files, evaldata.FindSets)
	if err != nil {
		return nil, err
	}
	return find.Load(evaldata.Files, names...)
}

// folder is that of a corpus. Notes are copied below the room.
func (r room) folder(ctx context.Context, environ []string, corpus string) (string, error) {
	if find.IsModule(corpus) {
		return module(ctx, environ, corpus)
	}
	return r.copied(path.Join(evaldata.FindNotes, corpus), corpus)
}

// envOf has the folder of a corpus as the one source.
func envOf(dir string, q find.Question) (env oracle.Env, named tool.Source, search string) {
	if find.IsModule(q.Corpus) {
		return oracle.Env{CodeRoot: dir}, tool.Code, "code_search"
	}
	return oracle.Env{Vault: dir}, tool.Vault, "vault_search"
}

// findByOracle asks the Oracle, as with --in or --vault on the command line. What it cites are the passages.
func (r room) findByOracle(ctx context.Context, id, dir string, q find.Question) (find.Found, error) {
	t, err := r.app.Trees.Get(oracle.Name)
	if err == nil && id != model.OfflineRules {
		id, err = r.app.Models.Choose(ctx, id)
	}
	if err != nil {
		return find.Found{}, err
	}
	var o oracle.Options
	if _, source, _ := envOf(dir, q); source == tool.Code {
		o.Code = schema.Folder{Name: dir, Path: dir}
	} else {
		o.Vault = schema.Folder{Name: dir, Path: dir}
	}
	a, err := r.ask(ctx, asking{tree: t, model: id, options: o}, []string{q.Text})
	return find.Cited(a), err
}

// findBySearch calls the search tool of the corpus with the question.
func (r room) findBySearch(ctx context.Context, dir string, q find.Question) (find.Found, error) {
	env, _, name := envOf(dir, q)
	tools, closeTools, err := r.app.Tools(ctx, env)
	if err != nil {
		return find.Found{}, err
	}
	defer closeTools()
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
