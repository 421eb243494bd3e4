package config

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
)

// What is wrong in a file or a variable is told with its place, the nearest name or the range, and without what may be
// a secret. The first lines of the texts in testdata say what they hold.
func TestWrongSettingsAreRefused(t *testing.T) {
	const key = "sk-Zq8vT2nB7yH4mK9w1xR5c3"
	fill := strings.NewReplacer("{gateway}", gateway, "{key-like}", "sk-proj-"+strings.Repeat("c4n4ry", 8), "{canary}",
		canary, "{key}", key, "{long key}", longKey, "{19 characters}", longKey[:19])
	known := []string{"with", "good file", "change", "set", "->", "=>", "breaks", "keeps all rules"}
	texttest.Play(t, known, func(t *testing.T, lines []texttest.Line) {
		var file, environ, set []string
		for _, l := range lines {
			rest := fill.Replace(l.Rest)
			switch l.Words {
			case "":
				file = append(file, fill.Replace(l.Text))
			case "with":
				environ = append(environ, rest)
			case "good file":
				file, environ = []string{strings.TrimSuffix(goodFile, "\n")}, goodKeys()
			case "change":
				old, changed, _ := strings.Cut(strings.ReplaceAll(rest, `\n`, "\n"), " ->")
				assert.Require(t, strings.Contains(file[0], old), "line %d: %q is not in the good file", l.At, old)
				file[0] = strings.Replace(file[0], old, strings.TrimSpace(changed), 1)
			case "set":
				set = strings.Fields(rest)
			case "keeps all rules":
				if found, _ := checked(t, strings.Join(file, "\n"), environ...); !found.OK {
					t.Errorf("line %d: broken are %v: %+v", l.At, broken(found), found.Rules)
				}
			case "breaks":
				breaks(t, l, strings.Join(file, "\n"), environ)
			default:
				s := newSetup(t, strings.Join(file, "\n"), environ...)
				var err error
				if set == nil {
					_, err = s.load()
				} else if _, err = s.set(set[0], set[1:]...); s.content(t) != strings.Join(file, "\n") {
					t.Errorf("line %d: the file became %s", l.At, s.content(t))
				}
				assert.Require(t, err != nil && strings.Contains(err.Error(), rest) && (l.Words != "=>" ||
					strings.HasPrefix(err.Error(), s.file())) && (set == nil || !strings.Contains(err.Error(), s.file())),
					"line %d: error = %v", l.At, err)
				for _, secret := range []string{"c4n4ry", canary, "Zq8vT2nB", "sk-Z"} {
					assert.That(t, !strings.Contains(err.Error(), secret), "line %d: the error shows %s: %v", l.At, secret, err)
				}
			}
		}
		last := lines[len(lines)-1].Words
		assert.That(t, last == "->" || last == "=>" || last == "breaks" || last == "keeps all rules",
			"nothing is said in the end")
	})
}

// breaks checks that a file breaks a rule of the requirement, that one alone, and where and why that is told.
func breaks(t *testing.T, l texttest.Line, file string, environ []string) {
	t.Helper()
	want := strings.SplitN(l.Rest, " ", 3) // the rule, the place, the problem
	found, s := checked(t, file, environ...)
	got := broken(found)
	assert.Require(t, !found.OK && len(got) == 1 && got[0] == want[0], "line %d: broken: %v", l.At, got)
	where := want[1]
	if strings.HasPrefix(where, ":") {
		where = s.file() + where
	}
	all := violationsOf(found, want[0])
	v := all[0]
	assert.That(t, v.Where == where && strings.Contains(v.Problem, want[2]) && v.Fix != "", "line %d: %+v", l.At, all)
}

func TestAllWrongNamesAreToldAtOnce(t *testing.T) {
	_, err := newSetup(t, "modell: x\nweb:\n  searx: y\nvolt: z").load()
	assert.That(t, err != nil && strings.Count(err.Error(), "\n") == 2 && strings.Count(err.Error(), "did you mean") == 3,
		"error = %v", err)
}
