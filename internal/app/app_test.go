package app

import (
	"testing"

	"sibyl/internal/config"
)

func TestKeyForAllOfGoogleIsNoWishForGemini(t *testing.T) {
	for environ, automatic := range map[string]bool{"GOOGLE_API_KEY=key-0123456789": false,
		"GEMINI_API_KEY=key-0123456789": true} {
		cfg := must(config.Load(config.Options{Home: t.TempDir(), Environ: []string{environ}}))(t)
		for _, p := range catalog(cfg, newSecrets(cfg)) {
			if p.Name == "gemini" && (p.Automatic != automatic || p.Missing != "") {
				t.Errorf("%s: taken by itself %v, missing %q", environ, p.Automatic, p.Missing)
			}
		}
	}
}
