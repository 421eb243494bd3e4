package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/oracle/classify"
)

// classified is one line of ‘sibyl classify --json’ and ‘sibyl classify -’.
type classified struct {
	Query      string        `json:"query"`
	QueryType  classify.Type `json:"query_type"`
	NeedsCode  bool          `json:"needs_code"`
	NeedsVault bool          `json:"needs_vault"`
	NeedsWeb   bool          `json:"needs_web"`
	Confidence float64       `json:"confidence"`
	Keywords   []string      `json:"keywords_matched"`
}

func classifiedOf(query string, c classify.Classification) classified {
	return classified{Query: query, QueryType: c.QueryType, NeedsCode: c.NeedsCode, NeedsVault: c.NeedsVault, NeedsWeb: c.NeedsWeb,
		Confidence: c.Confidence, Keywords: append([]string{}, c.KeywordsMatched...)}
}

// longestQuery bounds a line of standard input, in bytes.
const longestQuery = 1 << 20

func (c *command) classifyCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "classify [QUERY | -]", Short: "Show what kind of question it is, and which sources it needs",
		Long:    "Classifies a question without asking it. With ‘-’ one question a line is read, and one JSON object a line is written.",
		Example: "  sibyl classify \"What's the weather in Paris?\"\n  sibyl classify - < questions.txt | jq .query_type",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return withCode(ExitUsage, errors.New("which question? sibyl classify \"…\", or - to read one a line"))
			}
			if len(args) == 1 && args[0] == "-" {
				return c.classifyLines()
			}
			query := strings.Join(args, " ")
			if strings.TrimSpace(query) == "" {
				return withCode(ExitUsage, errors.New("the question is empty"))
			}
			found := classify.Classify(classify.Query{Text: query})
			if c.asJSON {
				return newJSON(c.Out).Encode(classifiedOf(query, found))
			}
			fmt.Fprintf(c.Out, "%s (%.2f)\n", found.QueryType, found.Confidence)
			for _, m := range found.Matches {
				fmt.Fprintf(c.Out, "  %+.1f  %s: %s\n", m.Weight, m.Feature, printable(strings.Join(m.Words, ", ")))
			}
			return nil
		},
	}, "one JSON object")
}

func (c *command) classifyLines() error {
	in := bufio.NewReaderSize(c.In, 64<<10)
	out := bufio.NewWriter(c.Out)
	enc := newJSON(out)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d of standard input: %w", n, err)
		}
		if len(line) > longestQuery {
			return withCode(ExitUsage, fmt.Errorf("line %d has %d bytes, at most %d are read", n, len(line), longestQuery))
		}
		if query := strings.TrimRight(line, "\r\n"); strings.TrimSpace(query) != "" {
			if err := enc.Encode(classifiedOf(query, classify.Classify(classify.Query{Text: query}))); err != nil {
				return err
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if err != nil {
			return out.Flush()
		}
	}
}
