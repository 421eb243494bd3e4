package classify

import (
	"strings"
	"testing"
)

func TestEveryEntryOfTheVocabularyCanBeFound(t *testing.T) {
	for i, f := range vocabulary {
		seen := map[string]bool{}
		for _, entry := range strings.Fields(f.words) {
			if seen[entry] {
				t.Errorf("%s: %q stands there twice", f.name, entry)
			}
			seen[entry] = true
			found := false
			for _, o := range occurrences(tokenize(strings.ReplaceAll(strings.TrimSuffix(entry, "*"), "_", " "))) {
				found = found || o.feature == i
			}
			if !found {
				t.Errorf("%s: %q is never found as typed", f.name, entry)
			}
		}
	}
}

func TestFeaturesHaveNamesAndWeights(t *testing.T) {
	names := map[string]bool{}
	check := func(name string, w weights) {
		if name == "" || names[name] {
			t.Errorf("feature %q has no name of its own", name)
		}
		names[name] = true
		if w == (weights{}) {
			t.Errorf("feature %q weighs nothing", name)
		}
	}
	for _, f := range vocabulary {
		check(f.name, f.weight)
	}
	for _, f := range frames {
		check(f.name, f.weight)
	}
}

func TestLexiconIsFolded(t *testing.T) {
	for name, words := range map[string]map[string]bool{
		"stopWords": stopWords, "courtesyWords": courtesyWords, "openerWords": openerWords, "writeVerbs": writeVerbs, "nounVerbs": nounVerbs,
		"readVerbs": readVerbs, "noteNouns": noteNouns, "products": products, "softwareNouns": softwareNouns, "featureNouns": featureNouns,
	} {
		for w := range words {
			if fold(w) != w {
				t.Errorf("%s: %q can't match, because text is folded to %q", name, w, fold(w))
			}
		}
	}
	for w := range weakNounVerbs {
		if !nounVerbs[w] {
			t.Errorf("weakNounVerbs: %q is no noun verb", w)
		}
	}
	for w := range notEvidence {
		if !products[w] {
			t.Errorf("notEvidence: %q is no product", w)
		}
	}
}
