package session

import (
	"fmt"
	"testing"
	"time"

	"sibyl/internal/jsonobject"
)

// large is the metadata.json of a session of so many entries, two of three said and one answered, with all that they may have.
func large(t testing.TB, entries int) string {
	t.Helper()
	m := Session{ID: exampleID, State: Ready, CreatedAt: noon, Name: "A long conversation", NamedBy: ByWords, Language: "pt"}
	m.Defaults()
	seconds, tokens := 12.5, 8000
	for i := 1; i <= entries; i++ {
		at := noon.Add(time.Duration(i) * time.Minute)
		if i%3 == 0 {
			m.Answers = append(m.Answers, LlmEntry{
				Sequence: i / 3, CreatedAt: at, OracleName: "Visionário", OracleID: "a1b2c3d4", File: fmt.Sprintf("%03d_visionario.txt", i/3),
				Run: "0pgd6lgq44r780m3", Operation: fmt.Sprint("run/", i),
				Context: ContextSnapshot{
					Transcripts: i, Responses: i, IncludeHistory: true, TokensEstimate: &tokens,
					Entries: []string{"t1", "t2", "r1"}, Model: "ollama:llama3.1:8b",
				},
			})
			continue
		}
		m.Audio = append(m.Audio, AudioEntry{
			Sequence: i, ReceivedAt: at, File: fmt.Sprintf("%03d_audio.ogg", i), Size: 48213, Seconds: &seconds,
			Status: Success, Transcript: fmt.Sprintf("%03d_audio.txt", i),
			Checksum: "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", Original: "memo.ogg", By: "openai:whisper-1", Heard: "pt",
			Flags: []Flag{{Kind: "silence", Start: 1, End: 2.5}}, Attempts: 1,
		})
	}
	return string(must(jsonobject.Encode(&m))(t))
}

func TestASessionOf1000EntriesIsOpenedByReadingOneFile(t *testing.T) {
	s := written(t, large(t, 1000)) // and none of the files that it tells of is there
	var reads []string
	s.step = func(name string) error {
		reads = append(reads, name)
		return nil
	}
	m := must(s.Get(t.Context(), exampleID))(t)
	same(t, "entries", len(m.Audio)+len(m.Answers), 1000)
	same(t, "reads", reads, []string{"read metadata.json"})
}

func TestTheWorkOfOpeningGrowsAsTheEntriesDo(t *testing.T) {
	work := func(entries int) float64 {
		s := written(t, large(t, entries))
		return testing.AllocsPerRun(3, func() { must(s.Get(t.Context(), exampleID))(t) })
	}
	few, many := work(300), work(3000)
	if perEntry := few / 300; perEntry > 250 {
		t.Errorf("%.0f allocations for each entry, want 250 at most", perEntry)
	}
	if many > 12*few {
		t.Errorf("ten times the entries take %.1f times the allocations", many/few)
	}
}

func BenchmarkOpenASessionOf1000Entries(b *testing.B) {
	s := written(b, large(b, 1000))
	for b.Loop() {
		must(s.Get(b.Context(), exampleID))(b)
	}
}

func BenchmarkAddToASessionOf1000Entries(b *testing.B) {
	s := written(b, large(b, 1000))
	for b.Loop() {
		must(s.AddText(b.Context(), exampleID, "words"))(b)
	}
}

func BenchmarkSearchInASessionOf1000Entries(b *testing.B) {
	s := written(b, large(b, 1000))
	for _, e := range must(s.Get(b.Context(), exampleID))(b).Audio {
		put(b, s.path(exampleID, transcriptFolder, e.Transcript), fmt.Sprint("words of entry ", e.Sequence, " that somebody said when the tree fell"))
	}
	for b.Loop() {
		if hits := must(s.Search(b.Context(), "entry tree", 10))(b); len(hits) != 10 {
			b.Fatal(len(hits))
		}
	}
}
