package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// classified is one line of ‘sibyl classify --json’ and ‘sibyl classify -’.
type classified struct {
	Query         string          `json:"query"`
	QueryType     classify.Type   `json:"query_type"`
	NeedsCode     bool            `json:"needs_code"`
	NeedsVault    bool            `json:"needs_vault"`
	NeedsWeb      bool            `json:"needs_web"`
	Confidence    float64         `json:"confidence"`
	Probabilities classify.Shares `json:"probabilities"`
	Sources       []tool.Source   `json:"sources"` // offered where all are connected, the likeliest first
	Keywords      []string        `json:"keywords_matched"`
}

func classifiedOf(query string, c classify.Classification) classified {
	return classified{Query: query, QueryType: c.QueryType, NeedsCode: c.NeedsCode, NeedsVault: c.NeedsVault, NeedsWeb: c.NeedsWeb, Confidence: c.Confidence,
		Probabilities: c.Probabilities, Sources: append([]tool.Source{}, oracle.Sources(c)...), Keywords: append([]string{}, c.KeywordsMatched...)}
}

// likelihoods are the probabilities in one line, the greatest first.
func likelihoods(c classify.Classification) string {
	kinds := classify.Types()
	slices.SortStableFunc(kinds, func(a, b classify.Type) int { return cmp.Compare(c.Probabilities[b], c.Probabilities[a]) })
	all := make([]string, len(kinds))
	for i, t := range kinds {
		all[i] = fmt.Sprintf("%s %.2f", t, c.Probabilities[t])
	}
	return strings.Join(all, ", ")
}

// searched names the sources that are offered.
func searched(c classify.Classification) string {
	var names []string
	for _, s := range oracle.Sources(c) {
		names = append(names, string(s))
	}
	if names == nil {
		return "nothing is searched"
	}
	return "searched: " + strings.Join(names, ", ")
}

// longestQuery bounds a line of standard input, in bytes.
const longestQuery = 1 << 20

func (c *command) classifyCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "classify [QUERY | -]", Short: "Show the type of a question and the sources it needs",
		Long: "Classifies a question without answering it: shows how probable each type is, which sources would be\n" +
			"searched if all were connected, and the evidence for and against. With ‘-’ it reads one question per\n" +
			"line and writes one JSON object per line.",
		Example: "  sibyl classify \"What's the weather in Paris?\"\n  sibyl classify - < questions.txt | jq .query_type",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return withCode(ExitUsage, errors.New("which question? sibyl classify \"…\", or - to read one per line"))
			}
			if len(args) == 1 && args[0] == "-" {
				return c.classifyLines(cmd.Context())
			}
			query := strings.Join(args, " ")
			if strings.TrimSpace(query) == "" {
				return withCode(ExitUsage, errors.New("the question is empty"))
			}
			found := classify.Classify(classify.Query{Text: query})
			if c.asJSON {
				return newJSON(c.Out).Encode(classifiedOf(query, found))
			}
			fmt.Fprintf(c.Out, "%s (%.2f)\n%s\n%s\n", found.QueryType, found.Confidence, likelihoods(found), searched(found))
			for _, m := range found.Matches {
				fmt.Fprintf(c.Out, "  %+.1f  %s: %s\n", m.Weight, m.Feature, printable(strings.Join(m.Words, ", ")))
			}
			return nil
		},
	}, "one JSON object")
}

func (c *command) classifyLines(ctx context.Context) error {
	in := bufio.NewScanner(c.In)
	in.Buffer(make([]byte, 64<<10), longestQuery)
	out := bufio.NewWriter(c.Out)
	enc := newJSON(out)
	n := 1
	for ; ctx.Err() == nil && in.Scan(); n++ {
		query := strings.TrimRight(in.Text(), "\r")
		if strings.TrimSpace(query) == "" {
			continue
		}
		if err := enc.Encode(classifiedOf(query, classify.Classify(classify.Query{Text: query}))); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return withCode(ExitUsage, fmt.Errorf("line %d is longer than the limit of %d bytes", n, longestQuery))
	case err != nil:
		return fmt.Errorf("line %d of standard input: %w", n, err)
	}
	return ctx.Err()
}
