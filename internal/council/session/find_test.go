package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

// hostileIDs are none.
var hostileIDs = []string{
	"", "..", ".", "../" + exampleID, exampleID + "/..", exampleID + "/", "/" + exampleID, ".trash", ".locks",
	"2025-13-40_10-30-00", "2025-12-20_10-30-00_1", "2025-12-20_10-30-00_01",
	"2025-12-20_10-30-00_02/..", exampleID + "\x00", exampleID + "_", exampleID + " ", strings.Repeat("a", 100_000),
	"🎙️", "２025-12-20_10-30-00", exampleID + "_00002",
}

func TestIdsAreCheckedBeforeTheyTouchTheDisk(t *testing.T) {
	s, id := begun(t)
	before := tree(t, filepath.Dir(s.folder))
	ctx := t.Context()
	for _, bad := range append(hostileIDs, "2025-12-20_10-30-01", id+"_02") {
		_, get := s.Get(ctx, bad)
		_, text := s.AddText(ctx, bad, "x")
		_, audio := s.AddAudio(ctx, bad, "x.ogg", strings.NewReader("sound"))
		_, where := s.Delete(ctx, bad)
		_, repair := s.Repair(ctx, bad)
		_, begin := s.BeginTranscribing(ctx, bad)
		_, transcript := s.Transcript(ctx, bad, 1)
		_, response := s.SaveResponse(ctx, bad, answer("op", "x"))
		for what, err := range map[string]error{
			"get": get, "text": text, "audio": audio, "delete": where, "repair": repair, "begin": begin,
			"transcript": transcript, "response": response,
		} {
			assert.That(t, errors.Is(err, ErrNotFound) && len(err.Error()) <= 200 && !strings.ContainsRune(err.Error(), 0),
				"%s of %.40q: %.200v", what, bad, err)
		}
	}
	same(t, "files", tree(t, filepath.Dir(s.folder)), before)
}

func TestASessionThatIsALinkIsNotFollowed(t *testing.T) {
	s, id := begun(t)
	elsewhere := filepath.Join(t.TempDir(), "other")
	put(t, filepath.Join(elsewhere, metadataFile), `{"state":"READY"}`)
	linked := id + "_02"
	if err := os.Symlink(elsewhere, s.path(linked)); err != nil {
		t.Skip("no symbolic links here")
	}
	inside := id + "_03"
	assert.NoError(t, os.Symlink(id, s.path(inside)))
	for _, link := range []string{linked, inside} {
		_, err := s.Get(t.Context(), link)
		assert.That(t, errors.Is(err, ErrNotFound), "%s: %v", link, err)
		_, err = s.Delete(t.Context(), link)
		assert.That(t, errors.Is(err, ErrNotFound), "%s: %v", link, err)
	}
	all, skipped, err := s.List(t.Context())
	assert.That(t, err == nil && len(all) == 1 && len(skipped) == 2 && strings.Contains(skipped[0].Reason, "link"),
		"%v, %v, %v", all, skipped, err)
	same(t, "id of the next", assert.Must(s.New(t.Context(), "", ""))(t).ID, id+"_04")
	assert.NoError(t, errors.Join(os.RemoveAll(s.path(id, audioFolder)),
		os.Symlink(elsewhere, s.path(id, audioFolder))))
	_, err = s.AddAudio(t.Context(), id, "x.ogg", strings.NewReader("sound"))
	assert.That(t, err != nil, "audio was written through a link")
	same(t, "files elsewhere", names(tree(t, elsewhere)), []string{metadataFile})
}

func TestAStoreMakesNothingUntilSomethingIsWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "deep", "sessions")
	s := open(t, folder)
	all, skipped, err := s.List(t.Context())
	same(t, "sessions", []int{len(all), len(skipped)}, []int{0, 0})
	_, get := s.Get(t.Context(), exampleID)
	_, find := s.Find(t.Context(), "x")
	assert.That(t, err == nil && errors.Is(get, ErrNotFound) && find == nil, "%v, %v, %v", err, get, find)
	_, err = os.Stat(filepath.Dir(folder))
	assert.That(t, errors.Is(err, os.ErrNotExist), "there is a folder: %v", err)
	_, err = Open(Config{})
	assert.That(t, err != nil, "a store without a folder was opened")
	assert.Must(s.New(t.Context(), "", ""))(t)
	info := assert.Must(os.Stat(folder))(t)
	same(t, "mode", info.Mode().Perm().String(), "-rwx------")
}

func TestSessionsOfOneSecondHaveNumbers(t *testing.T) {
	s := open(t, t.TempDir())
	var ids []string
	for range 3 {
		ids = append(ids, assert.Must(s.New(t.Context(), "", "pt"))(t).ID)
	}
	same(t, "ids", ids, []string{exampleID, exampleID + "_02", exampleID + "_03"})
	for _, id := range ids {
		wantWhole(t, s, id)
		for _, folder := range []string{audioFolder, transcriptFolder, responseFolder} {
			info, err := os.Stat(s.path(id, folder))
			assert.That(t, err == nil && info.IsDir(), "%s of %s: %v", folder, id, err)
		}
	}
}

func TestTheListHasTheNewestFirstAndNamesWhatItSkips(t *testing.T) {
	s := open(t, t.TempDir())
	at := noon
	s.c.Now = func() time.Time { return at }
	for range 2 {
		assert.Must(s.New(t.Context(), "", ""))(t)
	}
	at = noon.Add(-time.Hour)
	assert.Must(s.New(t.Context(), "", ""))(t)
	at = noon.Add(time.Hour)
	broken := assert.Must(s.New(t.Context(), "", ""))(t).ID
	put(t, s.path(broken, metadataFile), "{")
	put(t, s.path("my notes", metadataFile), "{}")
	put(t, s.path("readme.txt"), "a file of somebody")
	assert.NoError(t, os.Mkdir(s.path("2025-12-24_00-00-00"), 0o700))
	all, skipped, err := s.List(t.Context())
	assert.NoError(t, err)
	var ids, left []string
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	for _, k := range skipped {
		left = append(left, k.ID)
	}
	same(t, "sessions", ids, []string{exampleID + "_02", exampleID, "2025-12-20_09-30-00"})
	same(t, "skipped", left, []string{"2025-12-24_00-00-00", broken, "my notes"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = s.List(ctx)
	assert.That(t, errors.Is(err, context.Canceled), "%v", err)
}

func TestNamesComeFromTheFirstWordsUntilSomebodyGivesOne(t *testing.T) {
	for text, want := range map[string]string{
		"one two":                              "one two",
		"\ufeff## Title\r\n\r\n then text":     "Title then text",
		strings.Repeat("word ", 30):            strings.TrimSpace(strings.Repeat("word ", 11)) + "…",
		strings.Repeat("x", 100) + " and more": strings.Repeat("x", 59) + "…",
		"a/b\\c \x1b[31mred":                   `a/b\c [31mred`,
	} {
		s, id := begun(t)
		assert.Must(s.AddText(t.Context(), id, text))(t)
		got := assert.Must(s.Get(t.Context(), id))(t)
		assert.That(t, got.Name == want && got.NamedBy == ByWords,
			"%.40q is named %q by %s, want %q", text, got.Name, got.NamedBy, want)
	}
}

func TestANameByHandIsReplacedByNoOther(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	assert.Must(s.AddText(ctx, id, "first words"))(t)
	for _, step := range []struct{ name, by, want string }{
		{"by a model", "ollama:llama3", "by a model"},
		{"words again", ByWords, "by a model"},
		{"another model", "openai:x", "another model"},
		{" by\n hand ", ByPerson, "by hand"},
		{"a model once more", "openai:x", "by hand"},
		{"second thoughts", ByPerson, "second thoughts"},
	} {
		same(t, step.by, assert.Must(s.Rename(ctx, id, step.name, step.by))(t).Name, step.want)
	}
	named := assert.Must(s.New(ctx, "  Named at  once ", "de"))(t)
	assert.Must(s.AddText(ctx, named.ID, "other words"))(t)
	m := assert.Must(s.Get(ctx, named.ID))(t)
	same(t, "name", []string{m.Name, m.NamedBy, m.Language}, []string{"Named at once", ByPerson, "de"})
	for _, bad := range []string{"", " \t", "a\xff", strings.Repeat("x", 201)} {
		_, err := s.Rename(ctx, id, bad, ByPerson)
		assert.That(t, err != nil, "%.20q was taken for a name", bad)
	}
	_, err := s.Rename(ctx, id, "x", "")
	assert.That(t, err != nil, "nobody named it")
	_, err = s.New(ctx, strings.Repeat("x", 201), "")
	assert.That(t, err != nil, "a name of 201 characters was taken")
	assert.Must(s.Rename(ctx, id, strings.Repeat("🎙", 200), ByPerson))(t)
}

func TestSettingsOfASession(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	yes := true
	set := func(language string) (Session, error) {
		return s.Set(ctx, id, Settings{Language: &language, SimplifiedButtons: &yes})
	}
	for _, bad := range []string{"p", "12", "../x", "português", strings.Repeat("a", 30)} {
		_, err := set(bad)
		assert.That(t, err != nil, "the language %q was taken", bad)
	}
	assert.Must(set("pt-BR"))(t)
	m := wantWhole(t, s, id)
	same(t, "settings", []any{m.Language, m.Preferences.SimplifiedButtons, m.Preferences.IncludeLLMHistory},
		[]any{"pt-BR", true, true})
}

// ids of what was found.
func ids(all []Session) (list []string) {
	for _, m := range all {
		list = append(list, m.ID)
	}
	return list
}

func TestSessionsAreFoundByIdAndName(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	at := noon
	s.c.Now = func() time.Time { return at }
	for _, name := range []string{"Decisão sobre o café", "o café", "Descafeinado", "", "🎙️ only"} {
		assert.Must(s.New(ctx, name, ""))(t)
		at = at.Add(time.Minute)
	}
	const a, b, c, d, e = "2025-12-20_10-30-00", "2025-12-20_10-31-00", "2025-12-20_10-32-00", "2025-12-20_10-33-00",
		"2025-12-20_10-34-00"
	for query, want := range map[string][]string{
		a:               {a},
		"2025-12-20_10": {e, d, c, b, a},
		"2025-12-20_11": nil,
		"CAFE":          {c, b, a},
		"o cafe":        {b, a},
		"decisao":       {a},
		"nothing":       nil,
		"🎙️":            {e},
		"  o café  ":    {b, a},
		"../x":          nil,
	} {
		same(t, query, ids(assert.Must(s.Find(ctx, query))(t)), want)
	}
	_, err := s.Find(ctx, " ")
	assert.That(t, err != nil, "nothing was looked for, and found")
	put(t, s.path(a, metadataFile), "{")
	for _, query := range []string{a, "2025-12-20_10-30"} {
		_, err := s.Find(ctx, query)
		assert.That(t, err != nil && strings.Contains(err.Error(), "damaged"), "%s finds a damaged one: %v", query, err)
	}
	same(t, "several", ids(assert.Must(s.Find(ctx, "2025-12-20_10"))(t)), []string{e, d, c, b})
}

func TestTextsOfASessionAreGivenWithTheirPlaces(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	id := assert.Must(s.New(ctx, "A árvore vermelha", "pt"))(t).ID
	assert.Must(s.AddText(ctx, id, "Hoje pensei na decisão difícil."))(t)
	assert.Must(s.AddText(ctx, id, "uma árvore verde"))(t)
	assert.Must(s.SaveResponse(ctx, id, answer("op", "Que ÁRVORE, e por que vermelha?")))(t)
	texts := func() map[string]string {
		found := map[string]string{}
		for place, text := range s.Texts(ctx, assert.Must(s.Get(t.Context(), id))(t)) {
			assert.That(t, !place.At.IsZero(), "%s has no time", place.ID)
			found[place.ID] = strings.TrimSpace(text)
		}
		return found
	}
	found := texts()
	same(t, "places", names(found), []string{"r1", "t1", "t2"})
	assert.That(t, found["t1"] == "Hoje pensei na decisão difícil." &&
		strings.Contains(found["r1"], "Que ÁRVORE, e por que vermelha?"), "%q", found)
	put(t, s.path(id, transcriptFolder, "002_audio.txt"), "\xff\xfe")
	same(t, "when a file can't be read", names(texts()), []string{"r1", "t1"})
	for range s.Texts(ctx, assert.Must(s.Get(ctx, id))(t)) {
		break // whoever has seen enough gets no more
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	same(t, "nothing once it is too late", len(texts()), 0)
}
