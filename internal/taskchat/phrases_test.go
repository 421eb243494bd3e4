package taskchat

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// remarks are the constants that name what can be said.
func remarks(t *testing.T) (all []string) {
	t.Helper()
	file := assert.Must(parser.ParseFile(token.NewFileSet(), "remark.go", nil, 0))(t)
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "say") {
			name := assert.Must(strconv.Unquote(v.Values[0].(*ast.BasicLit).Value))(t)
			all = append(all, name)
		}
		return true
	})
	return all
}

func TestEveryLanguageSaysAllThatCanBeSaid(t *testing.T) {
	names := remarks(t)
	places := regexp.MustCompile(`\{.*?\}`)
	for code, p := range phrasesByLanguage() {
		for _, name := range names {
			assert.That(t, len(p[name]) != 0 || name == sayDetails || name == sayReply, "%s: %q has no words", code, name)
		}
		for name, forms := range p {
			assert.That(t, slices.Contains(names, name) || phrasesByLanguage()["en"][name] != nil,
				"%s: nothing says %q", code, name)
			for _, form := range forms {
				for _, place := range places.FindAllString(form, -1) {
					assert.That(t, slices.Contains(strings.Fields("{title} {titles} {old} {n} {when} {text} {new}"), place),
						"%s: %s is filled in by nothing: %s", code, place, form)
				}
			}
		}
	}
	languages := slices.Sorted(maps.Keys(phrasesByLanguage()))
	assert.That(t, slices.Equal(languages, []string{"de", "en", "es", "fr", "pt"}), "languages: %v", languages)
}
