package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/jsonobject"
)

const exampleID = "2025-12-20_10-30-00"

func decode(content []byte) (m Session, err error) {
	err = jsonobject.Decode(content, &m)
	return m, err
}

// written is a store with a session whose metadata.json was written by hand.
func written(t testing.TB, metadata string) *Store {
	t.Helper()
	s := open(t, t.TempDir())
	put(t, s.path(exampleID, metadataFile), metadata)
	return s
}

func TestTheExampleOfTheDocumentIsReadAndWrittenAsItIs(t *testing.T) {
	example := content(t, "testdata/example.json")
	s := written(t, example)
	m := assert.Must(s.Get(t.Context(), exampleID))(t)
	same(t, "state", m.State, Collecting)
	same(t, "entries", []int{len(m.Audio), len(m.Answers)}, []int{1, 2})
	same(t, "seconds", *m.Audio[0].Seconds, 12.5)
	same(t, "answer", m.Answers[1].OracleName, "Visionário")
	same(t, "snapshot", []int{m.Answers[1].Context.Transcripts, m.Answers[1].Context.Responses,
		*m.Answers[1].Context.TokensEstimate}, []int{3, 1, 1850})
	at := time.Date(2025, 12, 20, 10, 40, 30, 0, time.UTC)
	if m.Answers[1].CreatedAt != at {
		t.Errorf("the answer was made at %v, want %v", m.Answers[1].CreatedAt, at)
	}
	again := assert.Must(jsonobject.Encode(&m))(t)
	assert.That(t, string(again) == example, "it is written as\n%s", again)
	problems := m.problems(func(string) bool { return true }, nil)
	assert.That(t, len(problems) == 0, "problems of the example: %q", problems)
}

func TestWhatIsNotKnownStaysAtEveryLevel(t *testing.T) {
	s := written(t, content(t, "testdata/handwritten.json"))
	ctx := t.Context()
	assert.Must(s.SaveTranscript(ctx, exampleID, Transcript{Sequence: 2, Text: "spoken", By: "w",
		Flags: []Flag{{Kind: "silence", End: 2}}}))(t)
	no := false
	assert.Must(s.Set(ctx, exampleID, Settings{IncludeLLMHistory: &no}))(t)
	assert.Must(s.Rename(ctx, exampleID, "a name", ByPerson))(t)
	got := content(t, s.path(exampleID, metadataFile))
	want := content(t, "testdata/handwritten.changed.json")
	assert.That(t, got == want, "metadata.json is\n%s", got)
}

func TestPreferencesThatAreNotSaidAreThoseByDefault(t *testing.T) {
	for _, text := range []string{`{}`, `{"ui_preferences":null}`, `{"ui_preferences":{}}`,
		`{"ui_preferences":{"simplified_buttons":false}}`} {
		m := assert.Must(decode([]byte(text)))(t)
		assert.That(t, m.Preferences.IncludeLLMHistory, "%s leaves answers out of the context", text)
	}
	m := assert.Must(decode([]byte(`{"ui_preferences":{"include_llm_history":false}}`)))(
		t)
	assert.That(t, !m.Preferences.IncludeLLMHistory, "a false that is said is read as true")
}

func TestMetadataThatCannotBeReadIsNamedWithItsPlace(t *testing.T) {
	cases := map[string]string{
		"":                      "is empty",
		"  \n":                  "is empty",
		"\x00\x01":              "is no JSON",
		`{"state":`:             "is no JSON",
		`[]`:                    "an object is expected",
		"null":                  "a JSON null stands where an object is expected",
		`{} {}`:                 "is no JSON",
		`{"state": 7}`:          "state: a JSON number stands where a text is expected",
		`{"audio_entries": {}}`: "audio_entries: a JSON object stands where a list is expected",
		`{"audio_entries": [{"sequence":1},{"sequence":"two"}]}`: "audio_entries[1].sequence: a JSON " +
			"string stands where a whole number is expected",
		`{"audio_entries": [{"sequence":1.5}]}`:                             "audio_entries[0].sequence: ",
		`{"llm_entries": [{"context_snapshot":{"transcript_count":true}}]}`: "llm_entries[0].context_snapshot.transcript_count: a JSON bool stands",
		`{"llm_entries": [{"created_at":"yesterday"}]}`: "llm_entries[0].created_at: “yesterday” " +
			"is no time",
		`{"audio_entries": [{"transcript_flags":[{"start_seconds":"x"}]}]}`: "audio_entries[0].transcript_flags[0].start_seconds: ",
		`{"ui_preferences": 3}`: "ui_preferences: ",
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000): "is no JSON",
	}
	for text, want := range cases {
		s := written(t, text)
		_, err := s.Get(t.Context(), exampleID)
		damaged, ok := errors.AsType[*Damaged](err)
		assert.That(t, ok && strings.Contains(err.Error(), want) && damaged.ID == exampleID,
			"%.60q: %v, want “%s”", text, err, want)
		_, err = s.AddText(t.Context(), exampleID, "lost?")
		assert.That(t, errors.As(err, &damaged), "%.60q takes in words: %v", text, err)
		got := content(t, s.path(exampleID, metadataFile))
		assert.That(t, got == text, "%.60q was changed to %.60q", text, got)
	}
}

func TestTheFolderSaysWhichSessionItIs(t *testing.T) {
	s := written(t, `{"session_id":"2020-01-01_00-00-00","state":"COLLECTING"}`)
	m := assert.Must(s.Get(t.Context(), exampleID))(t)
	same(t, "id", m.ID, exampleID)
	problems := m.problems(func(string) bool {
		return true
	}, nil)
	assert.That(t, len(problems) == 1 && strings.Contains(problems[0], "2020-01-01_00-00-00"), "%q", problems)
	assert.Must(s.AddText(t.Context(), exampleID, "here"))(t)
	got := content(t, s.path(exampleID, metadataFile))
	assert.That(t, strings.Contains(got, `"session_id": "`+exampleID+`"`), "metadata.json is\n%s", got)
}

func FuzzWhatIsWrittenIsReadAsItWas(f *testing.F) {
	f.Add(content(f, "testdata/example.json"))
	f.Add(content(f, "testdata/handwritten.json"))
	f.Add(`{"a\"b":"c\\","x":[[],{},"]}",-1.5e-7,true,null],"\u0073tate":"READY","audio_entries":[{"\t":" \u00e9"} , {}],"ui_preferences":{}}`)
	f.Add("{ \"é\" : \"\xff\" ,\r\n\t\"audio_entries\" :\t[ ] }")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := decode([]byte(text))
		if err != nil {
			return
		}
		out := assert.Must(jsonobject.Encode(&m))(t)
		again := assert.Must(decode(out))(t)
		third := assert.Must(jsonobject.Encode(&again))(t)
		assert.That(t, string(third) == string(out), "written again, it is\n%s\nafter\n%s", third, out)
	})
}
