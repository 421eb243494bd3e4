package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
			if !errors.Is(err, ErrNotFound) || len(err.Error()) > 200 || strings.ContainsRune(err.Error(), 0) {
				t.Errorf("%s of %.40q: %.200v", what, bad, err)
			}
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
	noError(t, os.Symlink(id, s.path(inside)))
	for _, link := range []string{linked, inside} {
		if _, err := s.Get(t.Context(), link); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", link, err)
		}
		if _, err := s.Delete(t.Context(), link); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", link, err)
		}
	}
	all, skipped, err := s.List(t.Context())
	if err != nil || len(all) != 1 || len(skipped) != 2 || !strings.Contains(skipped[0].Reason, "link") {
		t.Errorf("%v, %v, %v", all, skipped, err)
	}
	same(t, "id of the next", must(s.New(t.Context(), "", ""))(t).ID, id+"_04")
	noError(t, errors.Join(os.RemoveAll(s.path(id, audioFolder)),
		os.Symlink(elsewhere, s.path(id, audioFolder))))
	if _, err := s.AddAudio(t.Context(), id, "x.ogg", strings.NewReader("sound")); err == nil {
		t.Error("audio was written through a link")
	}
	same(t, "files elsewhere", names(tree(t, elsewhere)), []string{metadataFile})
}

func TestAStoreMakesNothingUntilSomethingIsWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "deep", "sessions")
	s := open(t, folder)
	all, skipped, err := s.List(t.Context())
	same(t, "sessions", []int{len(all), len(skipped)}, []int{0, 0})
	_, get := s.Get(t.Context(), exampleID)
	_, find := s.Find(t.Context(), "x")
	if err != nil || !errors.Is(get, ErrNotFound) || find != nil {
		t.Errorf("%v, %v, %v", err, get, find)
	}
	if _, err := os.Stat(filepath.Dir(folder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
	if _, err := Open(Config{}); err == nil {
		t.Error("a store without a folder was opened")
	}
	must(s.New(t.Context(), "", ""))(t)
	info := must(os.Stat(folder))(t)
	same(t, "mode", info.Mode().Perm().String(), "-rwx------")
}

func TestSessionsOfOneSecondHaveNumbers(t *testing.T) {
	s := open(t, t.TempDir())
	var ids []string
	for range 3 {
		ids = append(ids, must(s.New(t.Context(), "", "pt"))(t).ID)
	}
	same(t, "ids", ids, []string{exampleID, exampleID + "_02", exampleID + "_03"})
	for _, id := range ids {
		wantWhole(t, s, id)
		for _, folder := range []string{audioFolder, transcriptFolder, responseFolder} {
			if info, err := os.Stat(s.path(id, folder)); err != nil || !info.IsDir() {
				t.Errorf("%s of %s: %v", folder, id, err)
			}
		}
	}
}

func TestTheListHasTheNewestFirstAndNamesWhatItSkips(t *testing.T) {
	s := open(t, t.TempDir())
	at := noon
	s.c.Now = func() time.Time { return at }
	for range 2 {
		must(s.New(t.Context(), "", ""))(t)
	}
	at = noon.Add(-time.Hour)
	must(s.New(t.Context(), "", ""))(t)
	at = noon.Add(time.Hour)
	broken := must(s.New(t.Context(), "", ""))(t).ID
	put(t, s.path(broken, metadataFile), "{")
	put(t, s.path("my notes", metadataFile), "{}")
	put(t, s.path("readme.txt"), "a file of somebody")
	noError(t, os.Mkdir(s.path("2025-12-24_00-00-00"), 0o700))
	all, skipped, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	if _, _, err := s.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
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
		must(s.AddText(t.Context(), id, text))(t)
		got := must(s.Get(t.Context(), id))(t)
		if got.Name != want || got.NamedBy != ByWords {
			t.Errorf("%.40q is named %q by %s, want %q", text, got.Name, got.NamedBy, want)
		}
	}
}

func TestANameByHandIsReplacedByNoOther(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	must(s.AddText(ctx, id, "first words"))(t)
	for _, step := range []struct{ name, by, want string }{
		{"by a model", "ollama:llama3", "by a model"},
		{"words again", ByWords, "by a model"},
		{"another model", "openai:x", "another model"},
		{" by\n hand ", ByPerson, "by hand"},
		{"a model once more", "openai:x", "by hand"},
		{"second thoughts", ByPerson, "second thoughts"},
	} {
		same(t, step.by, must(s.Rename(ctx, id, step.name, step.by))(t).Name, step.want)
	}
	named := must(s.New(ctx, "  Named at  once ", "de"))(t)
	must(s.AddText(ctx, named.ID, "other words"))(t)
	m := must(s.Get(ctx, named.ID))(t)
	same(t, "name", []string{m.Name, m.NamedBy, m.Language}, []string{"Named at once", ByPerson, "de"})
	for _, bad := range []string{"", " \t", "a\xff", strings.Repeat("x", 201)} {
		if _, err := s.Rename(ctx, id, bad, ByPerson); err == nil {
			t.Errorf("%.20q was taken for a name", bad)
		}
	}
	if _, err := s.Rename(ctx, id, "x", ""); err == nil {
		t.Error("nobody named it")
	}
	if _, err := s.New(ctx, strings.Repeat("x", 201), ""); err == nil {
		t.Error("a name of 201 characters was taken")
	}
	must(s.Rename(ctx, id, strings.Repeat("🎙", 200), ByPerson))(t)
}

func TestSettingsOfASession(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	yes := true
	set := func(language string) (Session, error) {
		return s.Set(ctx, id, Settings{Language: &language, SimplifiedButtons: &yes})
	}
	for _, bad := range []string{"p", "12", "../x", "português", strings.Repeat("a", 30)} {
		if _, err := set(bad); err == nil {
			t.Errorf("the language %q was taken", bad)
		}
	}
	must(set("pt-BR"))(t)
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
		must(s.New(ctx, name, ""))(t)
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
		same(t, query, ids(must(s.Find(ctx, query))(t)), want)
	}
	if _, err := s.Find(ctx, " "); err == nil {
		t.Error("nothing was looked for, and found")
	}
	put(t, s.path(a, metadataFile), "{")
	for _, query := range []string{a, "2025-12-20_10-30"} {
		if _, err := s.Find(ctx, query); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s finds a damaged one: %v", query, err)
		}
	}
	same(t, "several", ids(must(s.Find(ctx, "2025-12-20_10"))(t)), []string{e, d, c, b})
}

func TestTextsOfASessionAreGivenWithTheirPlaces(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	id := must(s.New(ctx, "A árvore vermelha", "pt"))(t).ID
	must(s.AddText(ctx, id, "Hoje pensei na decisão difícil."))(t)
	must(s.AddText(ctx, id, "uma árvore verde"))(t)
	must(s.SaveResponse(ctx, id, answer("op", "Que ÁRVORE, e por que vermelha?")))(t)
	texts := func() map[string]string {
		found := map[string]string{}
		for place, text := range s.Texts(ctx, must(s.Get(t.Context(), id))(t)) {
			if place.At.IsZero() {
				t.Errorf("%s has no time", place.ID)
			}
			found[place.ID] = strings.TrimSpace(text)
		}
		return found
	}
	found := texts()
	same(t, "places", names(found), []string{"r1", "t1", "t2"})
	if found["t1"] != "Hoje pensei na decisão difícil." ||
		!strings.Contains(found["r1"], "Que ÁRVORE, e por que vermelha?") {
		t.Errorf("%q", found)
	}
	put(t, s.path(id, transcriptFolder, "002_audio.txt"), "\xff\xfe")
	same(t, "when a file can't be read", names(texts()), []string{"r1", "t1"})
	for range s.Texts(ctx, must(s.Get(ctx, id))(t)) {
		break // whoever has seen enough gets no more
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	same(t, "nothing once it is too late", len(texts()), 0)
}
