package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/keys"
	"sibyl/internal/model"
)

func (c *command) configCheck() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "check", Short: "Check the settings against the rules of the Inquiry, and list every problem", Args: cobra.NoArgs,
		Long: "Checks every rule for detectives, witness, fallback order, time-outs and limits. For each it says\n" +
			"whether it holds, or what is wrong, where, and how to fix it. The rules apply to what the file and\n" +
			"variables name; without a file, a local model is used, or none. Keys are read to check their length\n" +
			"and never shown. No server is contacted; ‘sibyl config test’ does that.\n\n" +
			"Exit codes: 0 all rules hold, 2 some do not.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := config.Check(c.options(), func(cfg config.Config, name string) (config.Secret, error) {
				return cfg.Key(cmd.Context(), name, keys.Open(cfg.Keys))
			})
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if !found.OK {
				c.code = ExitUsage
			}
			return c.printed(found, printable(checkedText(found)))
		}}, "one JSON object")
}

// checkedText is a check as lines: the rules, and below each what breaks it.
func checkedText(found config.Checked) string {
	marks := map[string]string{config.RuleHolds: "ok", config.RuleBroken: "--", config.RuleUnchecked: "??"}
	var out strings.Builder
	for _, r := range found.Rules {
		says := r.Found
		if r.Outcome != config.RuleHolds {
			says = "wanted: " + r.Says
		}
		fmt.Fprintf(&out, "%s  %-23s %s\n", marks[r.Outcome], r.Name, says)
		for _, v := range r.Violations {
			where := ""
			if v.Where != "" {
				where = v.Where + ": "
			}
			fmt.Fprintf(&out, "      %s%s\n         %s\n", where, v.Problem, v.Fix)
		}
	}
	return out.String()
}

// witnessName is the witness in what is tested.
const witnessName = "witness"

// testWitness asks who serves the witness of the settings for that model.
func testWitness(ctx context.Context, a *app.App) finding {
	id := a.Config.Inquiry.Witness
	if id == "" {
		return finding{What: witnessName, Says: "not set up", Fix: "choose one with ‘sibyl config set inquiry.witness ollama:MODEL’, or with --witness"}
	}
	provider, wanted := model.SplitID(id)
	f, names, _ := listOf(ctx, a.Config, providerOf(a, provider)) // which says what failed
	f.What = witnessName
	switch {
	case f.Says != "":
		return f
	case hasModel(names, wanted):
		f.OK, f.Says = true, id+" is there"
		return f
	}
	f.Says, f.Fix = fmt.Sprintf("%s answers but does not have the model %s", provider, wanted), "choose another with ‘sibyl config set inquiry.witness ollama:MODEL’; ‘sibyl models’ lists them"
	if provider == ollamaName {
		f.Fix = fmt.Sprintf("‘ollama pull %s’, or %s", wanted, f.Fix)
	}
	return f
}

// embeddingsName is the model for embeddings in what is tested.
const embeddingsName = "embeddings"

// testEmbeddings has the model of the settings embed a word.
func testEmbeddings(ctx context.Context, a *app.App) finding {
	f, id := finding{What: embeddingsName}, a.Config.Inquiry.Embeddings
	if id == "" {
		f.Says, f.Fix = "not set up; the witness searches documents by words", "finds passages by meaning: set inquiry.embeddings, for example to ollama:nomic-embed-text"
		return f
	}
	name, _ := model.SplitID(id)
	if p := providerOf(a, name); p.Missing != "" {
		f.Says, f.Fix = id+": not set up", p.Missing
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	vectors, _, err := a.Embedder(id).Embed(ctx, []string{"sibyl"})
	switch {
	case err != nil && name == ollamaName && model.KindOf(err) == model.Invalid:
		f.Says, f.Fix = err.Error(), fmt.Sprintf("‘ollama pull %s’, or choose another embedding model with ‘sibyl config set inquiry.embeddings PROVIDER:MODEL’", strings.TrimPrefix(id, ollamaName+":"))
	case err != nil:
		f.Says, f.Fix = err.Error(), providerFix(a.Config, providerOf(a, name), model.KindOf(err))
	default:
		f.OK, f.Says = true, fmt.Sprintf("%s: vectors of %d dimensions", id, len(vectors[0]))
		if a.Config.EmbeddingsAway() {
			f.Says += "; passages of documents and questions are sent off your machines"
		}
	}
	return f
}

// embedTime bounds the wait for a word's vector. A local model may have to be loaded first.
const embedTime = 30 * time.Second

// checkEmbeddings is testEmbeddings for somebody who asks what there is: that what is set does not work is a fault.
func checkEmbeddings(ctx context.Context, a *app.App) finding {
	f := testEmbeddings(ctx, a)
	if a.Config.Inquiry.Embeddings != "" && !f.OK {
		f.Says, f.Fix = f.Says+" ("+f.Fix+")", ""
	}
	return f
}

// hasModel says whether a model is among names. Ollama means the latest one by a name alone.
func hasModel(names []string, wanted string) bool {
	return slices.Contains(names, wanted) || slices.Contains(names, wanted+":latest")
}

// withWished is a provider whose usual model is the one that the settings wish for.
func withWished(a *app.App, p model.Provider) model.Provider {
	if provider, wished := model.SplitID(a.Config.Model); provider == p.Name && wished != "" {
		p.Default = wished
	}
	return p
}
