package config

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/texttest"
)

// What is wrong in a file or a variable is told with its place, the nearest name or the range, and without what may be
// a secret.
func TestWrongSettingsAreRefused(t *testing.T) {
	const key = "sk-Zq8vT2nB7yH4mK9w1xR5c3"
	fill := strings.NewReplacer("{gateway}", gateway, "{key-like}", "sk-proj-"+strings.Repeat("c4n4ry", 8), "{canary}",
		canary, "{key}", key)
	texttest.Play(t, []string{"with", "->", "=>"}, func(t *testing.T, lines []texttest.Line) {
		var file, environ []string
		for _, l := range lines {
			switch l.Words {
			case "":
				file = append(file, fill.Replace(l.Text))
			case "with":
				environ = append(environ, fill.Replace(l.Rest))
			default:
				s := newSetup(t, strings.Join(file, "\n"), environ...)
				_, err := s.load()
				if err == nil || !strings.Contains(err.Error(), fill.Replace(l.Rest)) || l.Words == "=>" &&
					!strings.HasPrefix(err.Error(), s.file()) {
					t.Fatalf("line %d: error = %v", l.At, err)
				}
				for _, secret := range []string{"c4n4ry", canary, "Zq8vT2nB", "sk-Z"} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("line %d: the error shows %s: %v", l.At, secret, err)
					}
				}
				return
			}
		}
		t.Error("nothing is said of the error")
	})
}

func TestAllWrongNamesAreToldAtOnce(t *testing.T) {
	_, err := newSetup(t, "modell: x\nweb:\n  searx: y\nvolt: z").load()
	if err == nil || strings.Count(err.Error(), "\n") != 2 || strings.Count(err.Error(), "did you mean") != 3 {
		t.Errorf("error = %v", err)
	}
}
