package stories

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

// tongue is a language in which the page is used, with its words by their keys and its sentences of the server by their
// codes.
type tongue struct {
	id    string
	words map[string]string
	// foreign are words that the page or the server uses in English and not in this language.
	foreign map[string]bool
}

// tongues are the languages of the page apart from English, as web/src/words has them.
var tongues = sync.OnceValues(func() ([]tongue, error) {
	keyed, err := wordsOfThePage()
	if err != nil {
		return nil, err
	}
	english := map[string]bool{}
	for _, texts := range keyed {
		addWords(english, texts[0])
	}
	var all []tongue
	for at, id := range []string{"de", "pt"} {
		one := tongue{id: id, words: map[string]string{}, foreign: map[string]bool{}}
		own := map[string]bool{}
		for key, texts := range keyed {
			one.words[key] = texts[at+1]
			addWords(own, texts[at+1])
		}
		for word := range english {
			one.foreign[word] = !own[word]
		}
		all = append(all, one)
	}
	return all, nil
})

// Texts in the files of words: a key, and behind it the texts of each language.
var (
	keyedTexts = regexp.MustCompile(`(?m)^\s*("(?:[^"\\]|\\.)*"):\s*\[((?:\s*"(?:[^"\\]|\\.)*",?)+)\s*\]`)
	oneText    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	aPlace     = regexp.MustCompile(`\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}`)
	aWord      = regexp.MustCompile(`[\pL\pM’']+`)
)

// wordsOfThePage are the texts of each key in English, German and Portuguese. English sentences of the server stand in
// the description of the API.
func wordsOfThePage() (map[string][3]string, error) {
	raw, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		return nil, err
	}
	var api struct {
		Components struct {
			Schemas struct {
				Event struct {
					Properties struct {
						Data struct {
							Reasons map[string]string `json:"x-reasons"`
						} `json:"data"`
					} `json:"properties"`
				}
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &api); err != nil {
		return nil, err
	}
	sentences := api.Components.Schemas.Event.Properties.Data.Reasons
	files, err := filepath.Glob("../src/words/*.ts")
	if err != nil {
		return nil, err
	}
	keyed := map[string][3]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, found := range keyedTexts.FindAllStringSubmatch(string(source), -1) {
			var key string
			var texts []string
			if err := json.Unmarshal([]byte(found[1]), &key); err != nil {
				return nil, err
			}
			for _, quoted := range oneText.FindAllString(found[2], -1) {
				var text string
				if err := json.Unmarshal([]byte(quoted), &text); err != nil {
					return nil, err
				}
				texts = append(texts, text)
			}
			keyed[key] = [3]string(texts)
		}
	}
	catalogues := map[string]map[string]string{}
	for _, language := range []string{"de", "pt"} {
		source, err := os.ReadFile("../src/words/sentences/" + language + ".json")
		if err == nil {
			var catalogue map[string]string
			err = json.Unmarshal(source, &catalogue)
			catalogues[language] = catalogue
		}
		if err != nil {
			return nil, err
		}
	}
	for code, english := range sentences {
		keyed[code] = [3]string{english, catalogues["de"][code], catalogues["pt"][code]}
	}
	return keyed, nil
}

// addWords adds the words of a text in small letters, without what is put in.
func addWords(all map[string]bool, text string) {
	for _, word := range aWord.FindAllString(aPlace.ReplaceAllString(text, " $2 $3 "), -1) {
		all[strings.ToLower(strings.Trim(word, "’'"))] = true
	}
}

// of is what a key says, up to the first value that is put in.
func (g tongue) of(key string) string {
	before, _, _ := strings.Cut(g.words[key], "{")
	return strings.TrimSpace(before)
}

// shownTexts are all texts that a person can read or hear at the moment, apart from listings, whose words are not the
// page's.
const shownTexts = `(() => {
	const all = new Set(), place = document.querySelector("dialog[open]") ?? document.body;
	const walk = document.createTreeWalker(place, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
	for (let n = walk.currentNode; n; n = walk.nextNode()) {
		const e = n.nodeType === 3 ? n.parentElement : n;
		if (!e.checkVisibility({ visibilityProperty: true }) && !e.closest("option") || e.closest("code, pre, script, style, [translate=no]")) continue;
		if (n.nodeType === 3) all.add(n.data.trim());
		else for (const name of ["aria-label", "title", "placeholder", "alt", "aria-roledescription", "label"]) all.add((e.getAttribute(name) ?? "").trim());
	}
	all.add(document.title);
	return [...all].filter(Boolean);
})()`

// speaks notes each text of the page that has words of English in it. What has no letters alone, as names of tools and
// files, is no English.
func (p *tab) speaks(g tongue, where string) {
	p.Helper()
	theirs := p.foldersOf()
	for _, text := range evaluate[[]string](p, shownTexts) {
		var foreign []string
		for _, part := range strings.Fields(text) {
			bare := strings.TrimFunc(part, func(r rune) bool { return !unicode.IsLetter(r) })
			if strings.ContainsAny(bare, "_:/.@#=0123456789") {
				continue
			}
			for _, word := range aWord.FindAllString(bare, -1) {
				if word = strings.ToLower(strings.Trim(word, "’'")); g.foreign[word] && !theirs[word] {
					foreign = append(foreign, word)
				}
			}
		}
		assert.That(p, len(foreign) == 0, "%s: %s: %q is English: %q", g.id, where, foreign, text)
	}
}

// foldersOf are the names of the folders of the house, which are those of its person.
func (h *house) foldersOf() map[string]bool {
	h.Helper()
	entries := assert.Must(os.ReadDir(h.dir))(h)
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = e.IsDir()
	}
	return names
}

// inEach runs a story in each language but English.
func inEach(t *testing.T, story func(t *testing.T, g tongue)) {
	t.Helper()
	all := assert.Must(tongues())(t)
	for _, g := range all {
		t.Run(g.id, func(t *testing.T) { story(t, g) })
	}
}

// visitIn is visit in a language.
func (h *house) visitIn(g tongue, width int64) *tab {
	h.Helper()
	p := h.visit(width)
	p.do("choosing the language", chromedp.Evaluate[chromedp.Void](`localStorage.setItem("sibyl.language", `+
		quoted(g.id)+`); undefined`))
	p.reload()
	p.until("a place for words in "+g.id, `document.documentElement.lang === `+quoted(g.id)+
		` && document.querySelector("textarea")`)
	return p
}

// files puts texts in the place of those that the house has.
func (h *house) files(texts map[string]string) {
	h.Helper()
	for name, text := range texts {
		assert.NoError(h, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600))
	}
}

func TestWordsOfThePageAreFoundInTheirFiles(t *testing.T) {
	all := assert.Must(tongues())(t)
	for _, g := range all {
		assert.That(t, len(g.words) >= 900, "%s has %d texts", g.id, len(g.words))
		for _, word := range []string{"the", "answer", "waiting"} {
			assert.That(t, g.foreign[word], "%q is not told from words of %s", word, g.id)
		}
	}
	if g := all[slices.IndexFunc(all, func(g tongue) bool {
		return g.id == "de"
	})]; g.of("app.close") != "Schließen" || g.foreign["in"] {
		t.Error("German is not told from English")
	}
}
