package api_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Who words reasons in another language finds every one of them in the description.
func TestEveryReasonIsDescribed(t *testing.T) {
	raw, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Components struct {
			Schemas struct {
				Event struct {
					Properties struct {
						Data struct {
							Reasons map[string]string `json:"x-reasons"`
						} `json:"data"`
					} `json:"properties"`
				} `json:"Event"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &description); err != nil {
		t.Fatal(err)
	}
	described := description.Components.Schemas.Event.Properties.Data.Reasons
	declared := regexp.MustCompile(`(?m)^\s*(?:const )?\w+\s+bt\.Reason\s+= "([\w.]+): `)
	found := 0
	err = filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, one := range declared.FindAllStringSubmatch(string(text), -1) {
			found++
			if described[one[1]] == "" {
				t.Errorf("%s: %q is not among the reasons of its assistant", path, one[1])
			}
		}
		return err
	})
	if err != nil || found < 55 {
		t.Errorf("%d reasons are declared, %v", found, err)
	}
}
