package cli

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sibyl/internal/schema"
)

// flagsBefore parses the flags before words into options, marks them as given, and returns the words after them.
func flagsBefore(o *schema.Object, into any, given map[*schema.Field]bool, words string) (string, error) {
	cmd := &cobra.Command{}
	bindFlags(cmd, o, into, given, nil)
	cmd.Flags().SetInterspersed(false)
	var tokens []string
	var from []int // where each token begins
	for _, at := range token.FindAllStringIndex(words, -1) {
		tokens, from = append(tokens, strings.ReplaceAll(words[at[0]:at[1]], `"`, "")), append(from, at[0])
	}
	hyphen := slices.IndexFunc(tokens, isNoFlag)
	if hyphen >= 0 {
		tokens = slices.Insert(tokens, hyphen, "--")
	}
	if err := cmd.Flags().Parse(tokens); err != nil {
		return "", err
	}
	n := cmd.Flags().NArg()
	if hyphen >= 0 && cmd.Flags().ArgsLenAtDash() < 0 { // words before it ended the flags, so “--” counts
		n--
	}
	if n > 0 {
		return words[from[len(from)-n]:], nil
	}
	return "", errors.New("words are missing after the options")
}

// areWordsAlone reports whether “--” stands before the words that are left: what comes after it is no flag.
func areWordsAlone(words, left string) bool {
	before := strings.Fields(strings.TrimSuffix(words, left))
	return len(before) > 0 && before[len(before)-1] == "--"
}

// flagsBehind parses the flags that end the words, as flagsBefore does, and returns the words before them. What is
// not flags to its end is words, and so is a flag of one letter: questions about commands end in such. Flags are
// tried first, since a failed parse leaves options changed.
func flagsBehind(o *schema.Object, into any, given map[*schema.Field]bool, words string) (string, error) {
	tokens := token.FindAllStringIndex(words, -1)
	for _, at := range tokens[min(1, len(tokens)):] {
		if !strings.HasPrefix(words[at[0]:at[1]], "--") {
			continue
		}
		rest := token.FindAllString(words[at[0]:], -1)
		for i, one := range rest {
			rest[i] = strings.ReplaceAll(one, `"`, "")
		}
		trial := &cobra.Command{}
		bindFlags(trial, o, o.New(nil), map[*schema.Field]bool{}, nil)
		if trial.Flags().Parse(rest) != nil || trial.Flags().NArg() > 0 {
			continue
		}
		cmd := &cobra.Command{}
		bindFlags(cmd, o, into, given, nil)
		return strings.TrimRight(words[:at[0]], " \t\n"), cmd.Flags().Parse(rest)
	}
	return words, nil
}

// isNoFlag reports whether a token begins with a hyphen but is no flag: -5, a lone hyphen.
func isNoFlag(token string) bool {
	rest, hyphen := strings.CutPrefix(token, "-")
	first, _ := utf8.DecodeRuneInString(rest)
	return hyphen && first != '-' && !unicode.IsLetter(first)
}

// token matches a word; quotation marks keep spaces in it.
var token = regexp.MustCompile(`(?:"[^"]*"|[^\s"])+`)
