package classify

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func TestEveryEntryOfTheVocabularyCanBeFound(t *testing.T) {
	check := func(entry string, feature int) {
		for _, o := range occurrences(tokenize(entry)) {
			if o.feature == feature {
				return
			}
		}
		t.Errorf("%s: %q is never found as typed", lex().features[feature].name, entry)
	}
	for _, words := range []map[string][]int{lex().exact, lex().stems} {
		for w, features := range words {
			for _, f := range features {
				if !lex().Products[w] { // "uber" is German first
					check(w, f)
				}
			}
		}
	}
	for _, starts := range lex().vocabulary.phrases {
		for _, p := range starts {
			check(strings.Join(p.words, " "), p.feature)
		}
	}
}

func TestNoEntryOfTheVocabularyIsLongerThanWhatIsLookedFor(t *testing.T) {
	for _, words := range []map[string][]int{lex().exact, lex().stems} {
		for w := range words {
			if len(w) > longestWord {
				t.Errorf("%q has %d bytes, and no more than %d are looked for", w, len(w), longestWord)
			}
		}
	}
}

func TestFeaturesHaveNamesAndWeights(t *testing.T) {
	names := map[string]bool{}
	check := func(name string, w balance) {
		if name == "" || names[name] {
			t.Errorf("feature %q has no name of its own", name)
		}
		names[name] = true
		if w == (balance{}) {
			t.Errorf("feature %q weighs nothing", name)
		}
	}
	for _, f := range lex().features {
		check(f.name, f.weight)
	}
	for _, group := range [][]frame{orderFrames, projectFrames, talkFrames} {
		for _, f := range group {
			check(f.name, f.weight)
		}
	}
}

func TestLexiconIsFolded(t *testing.T) {
	check := func(name, entry string) {
		if fold(entry) != entry {
			t.Errorf("%s: %q can't match, because text is folded to %q", name, entry, fold(entry))
		}
	}
	l := reflect.ValueOf(*lex())
	for _, field := range reflect.VisibleFields(l.Type()) {
		if !field.IsExported() {
			continue
		}
		switch words := l.FieldByIndex(field.Index).Interface().(type) {
		case set:
			for w := range words {
				check(field.Name, w)
			}
		case phrases:
			for _, p := range words {
				check(field.Name, strings.Join(p, " "))
			}
		case dictionary:
			for w, meaning := range words {
				check(field.Name, w)
				check(field.Name, strings.Join(meaning, " "))
			}
		}
	}
	for w := range lex().WeakNounVerbs {
		if !lex().NounVerbs[w] {
			t.Errorf("WeakNounVerbs: %q is no noun verb", w)
		}
	}
	for w := range lex().NotEvidence {
		if !lex().Products[w] {
			t.Errorf("NotEvidence: %q is no product", w)
		}
	}
}

func TestMistakeInAListIsToldWithItsLine(t *testing.T) {
	for _, c := range []struct{ file, from, to, want string }{
		{"lists", "[StopWords]", "a\n[StopWords]", "words/lists.txt:3: a: stands before the first list"},
		{"lists", "[StopWords]", "[StoppWords]", "words/lists.txt:3: [StoppWords]: there is no such list"},
		{"lists", "[WhWords]", "a\n[WhWords]", "a: stands there twice"},
		{"lists", "[WhWords]", "[StopWords]", "[StopWords]: stands there twice"},
		{"lists", "[You]\nyou\n", "", "the list You is in no file of words"},
		{"lists", "[StopWords]", "[vocabulary]\n[StopWords]", "[vocabulary]: there is no such list"},
		{"phrases", "[Requests]", "[FollowLeads", "[FollowLeads]: stands there twice"},
		{"translations", "[Portuguese]", "haus\n[Portuguese]", "haus: must be a word and what it means, as word = meaning"},
		{"translations", "[Portuguese]", "wer = who\n[Portuguese]", "wer = who: stands there twice"},
		{"features", "[product] research 1.6", "[product] research", "[product] research: must be [feature] type weight"},
		{"features", "[product] research 1.6", "[product] web 1.6", "must be [feature] type weight, with a type of questions and a number above 0"},
		{"features", "[product] research 1.6", "[product] research 0", "must be [feature] type weight, with a type of questions and a number above 0"},
		{"features", "deleted\n", "deleted\ndeleted\n", "deleted: stands there twice"},
	} {
		t.Run(c.file+": "+c.to, func(t *testing.T) {
			files := fstest.MapFS{}
			for _, name := range []string{"lists", "phrases", "translations", "features"} {
				path := "words/" + name + ".txt"
				content, err := fs.ReadFile(wordFiles, path)
				if err != nil {
					t.Fatal(err)
				}
				if name == c.file {
					changed := strings.Replace(string(content), c.from, c.to, 1)
					if changed == string(content) {
						t.Fatalf("%q is not in %s", c.from, path)
					}
					content = []byte(changed)
				}
				files[path] = &fstest.MapFile{Data: content}
			}
			if _, err := readLexicon(files); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func BenchmarkReadLexicon(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readLexicon(wordFiles); err != nil {
			b.Fatal(err)
		}
	}
}
