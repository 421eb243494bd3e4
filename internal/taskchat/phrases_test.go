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
)

// remarks are the constants that name what can be said.
func remarks(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "remark.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "say") {
			name, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
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
			if len(p[name]) == 0 && name != sayDetails && name != sayReply {
				t.Errorf("%s: %q has no words", code, name)
			}
		}
		for name, forms := range p {
			if !slices.Contains(names, name) && phrasesByLanguage()["en"][name] == nil {
				t.Errorf("%s: nothing says %q", code, name)
			}
			for _, form := range forms {
				for _, place := range places.FindAllString(form, -1) {
					if !slices.Contains(strings.Fields("{title} {titles} {old} {n} {when} {text} {new}"), place) {
						t.Errorf("%s: %s is filled in by nothing: %s", code, place, form)
					}
				}
			}
		}
	}
	if languages := slices.Sorted(maps.Keys(phrasesByLanguage())); !slices.Equal(languages, []string{"de", "en", "pt"}) {
		t.Errorf("languages: %v", languages)
	}
}
