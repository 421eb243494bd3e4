package app

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
)

func TestKeyForAllOfGoogleIsNoWishForGemini(t *testing.T) {
	for environ, automatic := range map[string]bool{"GOOGLE_API_KEY=key-0123456789": false,
		"GEMINI_API_KEY=key-0123456789": true} {
		cfg := assert.Must(config.Load(config.Options{Home: t.TempDir(), Environ: []string{environ}}))(t)
		for _, p := range catalog(cfg, newSecrets(cfg)) {
			assert.That(t, p.Name != "gemini" || (p.Automatic == automatic && p.Missing == ""),
				"%s: taken by itself %v, missing %q", environ, p.Automatic, p.Missing)
		}
	}
}
