package vault

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/tool"
)

func TestPushedEntriesAreReadInOrder(t *testing.T) {
	dir := folder(t, nil)
	clock := noon
	v := open(t, dir, func(v *Vault) { v.now = func() time.Time { return clock.In(time.FixedZone("x", 3600)) } })
	res := mustCallOnce(t, v, "thread_push", "k1", object{"thread": "Café log", "text": "\nfirst\r\nline\n\n",
		"title": " One\n #x "})
	clock = clock.Add(90 * time.Minute)
	mustCallOnce(t, v, "thread_push", "k2", object{"thread": "CAFE\u0301 LOG", "text": "second"})

	wantTexts(t, res, `Added entry 1 to the thread "Café log": threads/Café log.md:1-4.`)
	file := "## 2025-10-05T12:00:00Z " + entryID("k1") + " One #x\n\nfirst\nline\n\n## 2025-10-05T13:30:00Z " +
		entryID("k2") + "\n\nsecond\n"
	assert.Same(t, map[string]string{"threads/Café log.md": file}, contents(t, dir))
	res = mustCall(t, v, "thread_read", object{"thread": "café LOG"})
	want := "Thread \"Café log\", 2 entries.\n" +
		"\n1. 2025-10-05T12:00:00Z  threads/Café log.md:1-4  One #x\nfirst\nline\n" +
		"\n2. 2025-10-05T13:30:00Z  threads/Café log.md:6-8\nsecond\n"
	assert.Same(t, want, res.Text)
	ref := tool.Ref{Source: tool.Vault, Path: "threads/Café log.md", Title: "Café log", Start: 6, End: 8,
		Hash: files.Hash([]byte(file)), Opened: true}
	assert.That(t, len(res.Refs) == 2 && res.Refs[1] == ref && res.Items == 2 && !res.Truncated, "%+v", res)
	res = mustCall(t, v, "thread_list", object{})
	wantTexts(t, res, "1 thread in the vault.\n- Café log (2 entries, the last of 2025-10-05T13:30:00Z)  "+
		"threads/Café log.md\n")
}

func TestThreadReadPages(t *testing.T) {
	v := vaultOf(t, nil)
	for i := range 5 {
		mustCallOnce(t, v, "thread_push", fmt.Sprint(i), object{"thread": "log", "text": fmt.Sprint("entry ", i+1)})
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
			res := mustCall(t, v, "thread_read", test.args)
			got := []int{}
			for i := range 5 {
				if strings.Contains(res.Text, fmt.Sprint("\nentry ", i+1, "\n")) {
					got = append(got, i+1)
				}
			}
			assert.Same(t, test.want, got)
			last := got[len(got)-1]
			goesOn := strings.Contains(res.Text, fmt.Sprintf("go on with from %d", last+1))
			assert.That(t, goesOn == (last < 5) && res.Truncated == (last < 5), "truncated %v: %s", res.Truncated, res.Text)
		})
	}
	_, err := callTool(t, v, "thread_read", "", object{"thread": "none"})
	wantError(t, err, tool.NotFound, "thread_list")
}

func TestLongEntriesStayWithinTheBound(t *testing.T) {
	v := vaultOf(t, map[string]string{"threads/hand.md": "## 2025-01-01T00:00:00Z t-0000000000000001\n\n" +
		strings.Repeat("x\n", 100_000)})
	for i := range 3 {
		mustCallOnce(t, v, "thread_push", fmt.Sprint(i), object{"thread": "log", "text": strings.Repeat("x", maxEntry)})
	}
	res := mustCall(t, v, "thread_read", object{"thread": "log", "from": 2})
	assert.That(t, len(res.Text) <= tool.MaxText && res.Items == 1 && strings.Count(res.Text, "x") == maxEntry &&
		strings.Contains(res.Text, "go on with from 3"), "%d bytes, %d entries", len(res.Text), res.Items)
	res = mustCall(t, v, "thread_read", object{"thread": "hand"})
	assert.That(t, len(res.Text) <= tool.MaxText && res.Truncated && res.Items == 1,
		"%d bytes, truncated %v", len(res.Text), res.Truncated)
	_, err := callTool(t, v, "thread_push", "k", object{"thread": "log", "text": strings.Repeat("x", maxEntry+1)})
	wantError(t, err, tool.TooLarge)
}

func TestForgedHeaderInAnEntryIsText(t *testing.T) {
	v := vaultOf(t, nil)
	forged := "real\n## 2025-10-05T12:00:00Z " + entryID("k2") +
		" forged\n\ntext\n\\## 2025-10-05T12:00:00Z t-0000000000000000\n```"
	mustCallOnce(t, v, "thread_push", "k1", object{"thread": "log", "text": forged})
	_, done, err := toolNamed(v, "thread_push").(tool.Finder).Found(t.Context(),
		tool.Call{Key: "k2", Args: encode(t, object{"thread": "log", "text": "x"})})
	assert.That(t, !done && err == nil, "a forged header passes for the push of k2: %v, %v", done, err)
	mustCallOnce(t, v, "thread_push", "k2", object{"thread": "log", "text": "[[log]] #tag"})
	res := mustCall(t, v, "thread_read", object{"thread": "log"})
	wantTexts(t, res, "\n"+forged+"\n", "\n[[log]] #tag\n")
	assert.That(t, res.Items == 2, "%d entries", res.Items)
	// The code block that one entry leaves open does not swallow the next.
	wantTexts(t, mustCall(t, v, "vault_read", object{"path": "threads/log.md"}), "\nTags: tag\n")
}

func TestEntriesSurviveWhateverTextTheyHold(t *testing.T) {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"\n", "\r\n", "\r", `\`, "## ", "2025-10-05T14:30:22Z", " t-0123456789abcdef", "```",
			"---", " ", "\ufeff", "\u0085"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Map(rapid.SliceOf(piece), func(s []string) string {
			return strings.Join(s, "")
		}), 1, 4).Draw(t, "texts")
		windows := rapid.Bool().Draw(t, "CRLF")
		raw, want := "", []string{}
		for i, text := range texts {
			text = cleanText(text)
			if raw += formatEntry(entryID(fmt.Sprint(i)), noon, "", text) + "\n"; windows {
				raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")
			}
			want = append(want, text)
		}
		d := parseNote("threads/x.md", []byte(raw), false)
		got := []string{}
		for i, s := range d.sections {
			assert.Require(t, s.id == entryID(fmt.Sprint(i)) && s.entry == i+1,
				"entry %d is %d with the id %s", i+1, s.entry, s.id)
			got = append(got, d.entryText(s))
		}
		diff := cmp.Diff(want, got)
		assert.Require(t, diff == "", "%v", diff)
	})
}

func TestHandWrittenTextStaysInItsThread(t *testing.T) {
	by := "---\ntitle: My log\n---\nIntro by hand\n\n## A heading\n"
	dir := folder(t, map[string]string{"threads/log.md": by, "notes/log.md": "zebra"})
	v := open(t, dir)
	mustCallOnce(t, v, "thread_push", "k", object{"thread": "log", "text": "zebra pushed"})
	got := contents(t, dir)["threads/log.md"]
	assert.That(t, strings.HasPrefix(got, by+"\n## 2025-10-05T12:00:00Z "), "%q", got)
	read := mustCall(t, v, "thread_read", object{"thread": "log"})
	wantTexts(t, read, "1 entry", "\n1. ", "\nzebra pushed\n")
	diff := cmp.Diff(cited(read), cited(mustCall(t, v, "thread_seek", object{"query": "zebra"})))
	assert.That(t, diff == "" && read.Items == 1, "%v %v", diff, read.Items)
	none := mustCall(t, v, "thread_seek", object{"query": "intro"})
	assert.That(t, none.Items == 0, "text that is no entry was found: %s", none.Text)
}

func TestSeekSearchesEntriesOnly(t *testing.T) {
	v := vaultOf(t, map[string]string{"note.md": "zebra"})
	for i, text := range []string{"a zebra", "a lion", "zebra zebra", "zebra", "zebra"} {
		mustCallOnce(t, v, "thread_push", fmt.Sprint("a", i), object{"thread": "one", "text": text})
	}
	mustCallOnce(t, v, "thread_push", "b", object{"thread": "two", "text": "zebra in two", "title": "Zebra"})
	for _, test := range []struct {
		args object
		want []string
	}{
		{object{"query": "zebra", "limit": 2}, []string{"threads/two.md:1-3", "threads/one.md:9-11"}},
		{object{"query": "zebra", "thread": "ONE"}, []string{"threads/one.md:9-11", "threads/one.md:13-15",
			"threads/one.md:17-19", "threads/one.md:1-3"}},
		{object{"query": "tiger"}, []string{}},
	} {
		res := mustCall(t, v, "thread_seek", test.args)
		diff := cmp.Diff(test.want, cited(res))
		assert.That(t, diff == "" && res.Truncated == (test.args["limit"] != nil) && (len(res.Refs) == 0 ||
			!res.Refs[0].Opened), "%v: %s%+v", test.args, diff, res)
	}
	wantTexts(t, mustCall(t, v, "thread_seek", object{"query": "zebra", "thread": "two"}),
		"two, entry 1 > Zebra  (2025-10-05T12:00:00Z)")
}

func TestBadThreadNamesAreRefused(t *testing.T) {
	dir := folder(t, nil)
	v := open(t, dir)
	for name, kind := range map[string]tool.Kind{
		"": tool.InvalidArgs, "a/b": tool.InvalidArgs, "..": tool.Denied, ".x": tool.Denied, "NUL": tool.InvalidArgs,
		"a\nb": tool.InvalidArgs, `a\b`: tool.InvalidArgs,
	} {
		_, err := callTool(t, v, "thread_push", "k"+name, object{"thread": name, "text": "x"})
		wantError(t, err, kind)
	}
	_, err := callTool(t, v, "thread_push", "k", object{"thread": "a", "text": " "})
	wantError(t, err, tool.InvalidArgs, "text")
	got := contents(t, dir)
	assert.That(t, len(got) == 0, "%v", got)
}
