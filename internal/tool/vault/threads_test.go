package vault

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

func TestPushedEntriesAreReadInOrder(t *testing.T) {
	dir := folder(t, nil)
	clock := noon
	v := open(t, dir, func(v *Vault) { v.now = func() time.Time { return clock.In(time.FixedZone("x", 3600)) } })
	res := doOnce(t, v, "thread_push", "k1", object{"thread": "Café log", "text": "\nfirst\r\nline\n\n", "title": " One\n #x "})
	clock = clock.Add(90 * time.Minute)
	doOnce(t, v, "thread_push", "k2", object{"thread": "CAFE\u0301 LOG", "text": "second"})

	one := EntryInfo{Number: 1, ID: entryID("k1"), Time: noon, Title: "One #x", Start: 1, End: 4}
	if diff := cmp.Diff(PushData{Thread: "Café log", Path: "threads/Café log.md", Entry: one}, dataOf[PushData](t, res)); diff != "" {
		t.Error(diff)
	}
	file := "## 2025-10-05T12:00:00Z " + entryID("k1") + " One #x\n\nfirst\nline\n\n## 2025-10-05T13:30:00Z " + entryID("k2") + "\n\nsecond\n"
	if diff := cmp.Diff(map[string]string{"threads/Café log.md": file}, contents(t, dir)); diff != "" {
		t.Error(diff)
	}
	two := EntryInfo{Number: 2, ID: entryID("k2"), Time: clock, Start: 6, End: 8}
	res = do(t, v, "thread_read", object{"thread": "café LOG"})
	want := ThreadData{Thread: "Café log", Path: "threads/Café log.md", Hash: files.Hash([]byte(file)), Total: 2, Entries: []Entry{{one, "first\nline"}, {two, "second"}}}
	if diff := cmp.Diff(want, dataOf[ThreadData](t, res)); diff != "" {
		t.Error(diff)
	}
	ref := tool.Ref{Source: tool.Vault, Path: want.Path, Title: "Café log", Start: 6, End: 8, Hash: want.Hash, Opened: true}
	if len(res.Refs) != 2 || res.Refs[1] != ref || res.Items != 2 || res.Truncated {
		t.Errorf("%+v", res)
	}
	list := ThreadsData{Total: 1, Threads: []ThreadInfo{{Thread: "Café log", Path: want.Path, Entries: 2, First: &one, Last: &two}}}
	res = do(t, v, "thread_list", object{})
	if diff := cmp.Diff(list, dataOf[ThreadsData](t, res)); diff != "" || res.Items != 1 {
		t.Error(diff)
	}
}

func TestThreadReadPages(t *testing.T) {
	v := vaultOf(t, nil)
	for i := range 5 {
		doOnce(t, v, "thread_push", fmt.Sprint(i), object{"thread": "log", "text": fmt.Sprint("entry ", i+1)})
	}
	for name, test := range map[string]struct {
		args object
		want []int
	}{
		"all":                     {object{}, []int{1, 2, 3, 4, 5}},
		"from":                    {object{"from": 4}, []int{4, 5}},
		"limit":                   {object{"limit": 2}, []int{1, 2}},
		"the last":                {object{"from": -2}, []int{4, 5}},
		"more last ones than all": {object{"from": -9, "limit": 1}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			test.args["thread"] = "log"
			res := do(t, v, "thread_read", test.args)
			got := []int{}
			for _, e := range dataOf[ThreadData](t, res).Entries {
				got = append(got, e.Number)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			last := got[len(got)-1]
			if goesOn := strings.Contains(res.Text, fmt.Sprintf("go on with from %d", last+1)); goesOn != (last < 5) || res.Truncated != (last < 5) {
				t.Errorf("truncated %v: %s", res.Truncated, res.Text)
			}
		})
	}
	_, err := try(t, v, "thread_read", "", object{"thread": "none"})
	wantError(t, err, tool.NotFound, "thread_list")
}

func TestLongEntriesStayWithinTheBound(t *testing.T) {
	v := vaultOf(t, map[string]string{"threads/hand.md": "## 2025-01-01T00:00:00Z t-0000000000000001\n\n" + strings.Repeat("x\n", 100_000)})
	for i := range 3 {
		doOnce(t, v, "thread_push", fmt.Sprint(i), object{"thread": "log", "text": strings.Repeat("x", maxEntry)})
	}
	res := do(t, v, "thread_read", object{"thread": "log", "from": 2})
	data := dataOf[ThreadData](t, res)
	if len(res.Text) > tool.MaxText || len(data.Entries) != 1 || len(data.Entries[0].Text) != maxEntry || !strings.Contains(res.Text, "go on with from 3") {
		t.Errorf("%d bytes, %d entries", len(res.Text), len(data.Entries))
	}
	res = do(t, v, "thread_read", object{"thread": "hand"})
	if len(res.Text) > tool.MaxText || !res.Truncated || res.Items != 1 {
		t.Errorf("%d bytes, truncated %v", len(res.Text), res.Truncated)
	}
	_, err := try(t, v, "thread_push", "k", object{"thread": "log", "text": strings.Repeat("x", maxEntry+1)})
	wantError(t, err, tool.TooLarge)
}

func TestForgedHeaderInAnEntryIsText(t *testing.T) {
	v := vaultOf(t, nil)
	forged := "real\n## 2025-10-05T12:00:00Z " + entryID("k2") + " forged\n\ntext\n\\## 2025-10-05T12:00:00Z t-0000000000000000\n```"
	doOnce(t, v, "thread_push", "k1", object{"thread": "log", "text": forged})
	_, done, err := toolNamed(v, "thread_push").(tool.Finder).Found(t.Context(), tool.Call{Key: "k2", Args: encode(t, object{"thread": "log", "text": "x"})})
	if done || err != nil {
		t.Errorf("a forged header passes for the push of k2: %v, %v", done, err)
	}
	doOnce(t, v, "thread_push", "k2", object{"thread": "log", "text": "[[log]] #tag"})
	data := dataOf[ThreadData](t, do(t, v, "thread_read", object{"thread": "log"}))
	if len(data.Entries) != 2 || data.Entries[0].Text != forged || data.Entries[1].Text != "[[log]] #tag" {
		t.Errorf("%+v", data.Entries)
	}
	if tags := dataOf[ReadData](t, do(t, v, "vault_read", object{"path": "threads/log.md"})).Tags; !cmp.Equal(tags, []string{"tag"}) {
		t.Errorf("the code block that one entry left open swallowed the next: tags %q", tags)
	}
}

func TestEntriesSurviveWhateverTextTheyHold(t *testing.T) {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"\n", "\r\n", "\r", `\`, "## ", "2025-10-05T14:30:22Z", " t-0123456789abcdef", "```", "---", " ", "\ufeff", "\u0085"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Map(rapid.SliceOf(piece), func(s []string) string { return strings.Join(s, "") }), 1, 4).Draw(t, "texts")
		windows := rapid.Bool().Draw(t, "CRLF")
		raw, want := "", []string{}
		for i, text := range texts {
			text = cleanText(text)
			if raw += formatEntry(entryID(fmt.Sprint(i)), noon, "", text) + "\n"; windows {
				raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")
			}
			want = append(want, text)
		}
		d := parse("threads/x.md", []byte(raw), false)
		got := []string{}
		for i, s := range d.entries() {
			if s.entry != entryID(fmt.Sprint(i)) {
				t.Fatalf("entry %d has the id %s", i, s.entry)
			}
			got = append(got, d.entryText(s))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestHandWrittenTextStaysInItsThread(t *testing.T) {
	by := "---\ntitle: My log\n---\nIntro by hand\n\n## A heading\n"
	dir := folder(t, map[string]string{"threads/log.md": by, "notes/log.md": "zebra"})
	v := open(t, dir)
	doOnce(t, v, "thread_push", "k", object{"thread": "log", "text": "zebra pushed"})
	if got := contents(t, dir)["threads/log.md"]; !strings.HasPrefix(got, by+"\n## 2025-10-05T12:00:00Z ") {
		t.Errorf("%q", got)
	}
	data := dataOf[ThreadData](t, do(t, v, "thread_read", object{"thread": "log"}))
	if data.Total != 1 || data.Entries[0].Number != 1 || data.Entries[0].Text != "zebra pushed" {
		t.Errorf("%+v", data)
	}
	seek := dataOf[SeekData](t, do(t, v, "thread_seek", object{"query": "zebra"}))
	if len(seek.Hits) != 1 || seek.Hits[0].Entry != data.Entries[0].EntryInfo {
		t.Errorf("%+v", seek)
	}
	if none := do(t, v, "thread_seek", object{"query": "intro"}); none.Items != 0 {
		t.Errorf("text that is no entry was found: %s", none.Text)
	}
}

func TestSeekSearchesEntriesOnly(t *testing.T) {
	v := vaultOf(t, map[string]string{"note.md": "zebra"})
	for i, text := range []string{"a zebra", "a lion", "zebra zebra", "zebra", "zebra"} {
		doOnce(t, v, "thread_push", fmt.Sprint("a", i), object{"thread": "one", "text": text})
	}
	doOnce(t, v, "thread_push", "b", object{"thread": "two", "text": "zebra in two", "title": "Zebra"})
	numbers := func(args object) (got []string, res tool.Result) {
		res = do(t, v, "thread_seek", args)
		for _, h := range dataOf[SeekData](t, res).Hits {
			got = append(got, fmt.Sprint(h.Thread, h.Entry.Number))
		}
		return got, res
	}
	got, res := numbers(object{"query": "zebra", "limit": 2})
	if diff := cmp.Diff([]string{"two1", "one3"}, got); diff != "" || !res.Truncated || res.Refs[0].Opened {
		t.Errorf("%s%+v", diff, res)
	}
	got, res = numbers(object{"query": "zebra", "thread": "ONE"})
	if diff := cmp.Diff([]string{"one3", "one4", "one5", "one1"}, got); diff != "" || res.Truncated {
		t.Errorf("%s%+v", diff, res)
	}
	if got, _ = numbers(object{"query": "tiger"}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestBadThreadNamesAreRefused(t *testing.T) {
	dir := folder(t, nil)
	v := open(t, dir)
	for name, kind := range map[string]tool.Kind{
		"": tool.InvalidArgs, "a/b": tool.InvalidArgs, "..": tool.Denied, ".x": tool.Denied, "NUL": tool.InvalidArgs, "a\nb": tool.InvalidArgs, `a\b`: tool.InvalidArgs,
	} {
		_, err := try(t, v, "thread_push", "k"+name, object{"thread": name, "text": "x"})
		wantError(t, err, kind)
	}
	_, err := try(t, v, "thread_push", "k", object{"thread": "a", "text": " "})
	wantError(t, err, tool.InvalidArgs, "text is missing")
	if got := contents(t, dir); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
