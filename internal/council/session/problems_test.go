package session

import (
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

// sound is a session that breaks no rule.
func sound() Session {
	tokens, seconds := 10, 2.0
	return Session{
		ID: exampleID, State: Ready,
		Audio: []AudioEntry{
			{Sequence: 1, ReceivedAt: noon, File: "001_audio.ogg", Size: 5, Seconds: &seconds, Status: Success,
				Transcript: "001_audio.txt"},
			{Sequence: 2, ReceivedAt: noon, Size: 5, Status: Success, Transcript: "002_audio.txt"},
			{Sequence: 3, ReceivedAt: noon, File: "003_audio.mp3", Status: Pending},
		},
		Answers: []LlmEntry{
			{Sequence: 1, CreatedAt: noon, OracleName: "Cético", OracleID: "a1b2c3d4", File: "001_cetico.txt",
				Context: ContextSnapshot{TokensEstimate: &tokens}},
			{Sequence: 2, CreatedAt: noon, OracleName: "Comparação", Kind: "comparison", File: "002_comparacao.txt"},
		},
	}
}

func TestEveryRuleOfTheEntitiesIsChecked(t *testing.T) {
	minus, below := -1, -0.5
	rules := map[string]struct {
		breaks func(s *Session)
		want   string
	}{
		"nothing is wrong":                                 {func(*Session) {}, ""},
		"Session.id: that of the folder":                   {func(s *Session) { s.misnamed, s.namedID = true, "another" }, "session_id is “another”"},
		"Session.state: one that is known":                 {func(s *Session) { s.State = "PAUSED" }, "state “PAUSED”"},
		"AudioEntry.sequence: from 1":                      {func(s *Session) { s.Audio[0].Sequence = 0 }, "audio_entries[0].sequence is 0"},
		"AudioEntry.sequence: unique":                      {func(s *Session) { s.Audio[1].Sequence = 1 }, "audio_entries[1].sequence is 1, as that of another"},
		"AudioEntry.received_at: there":                    {func(s *Session) { s.Audio[0].ReceivedAt = time.Time{} }, "audio_entries[0].received_at"},
		"AudioEntry.file_size_bytes: from 0":               {func(s *Session) { s.Audio[0].Size = -1 }, "file_size_bytes"},
		"AudioEntry.duration_seconds: from 0":              {func(s *Session) { s.Audio[0].Seconds = &below }, "duration_seconds"},
		"AudioEntry.transcription_status: known":           {func(s *Session) { s.Audio[2].Status = "DONE" }, "audio_entries[2].transcription_status “DONE”"},
		"AudioEntry: SUCCESS has a transcript":             {func(s *Session) { s.Audio[0].Transcript = "" }, "audio_entries[0].transcript_filename"},
		"AudioEntry: PENDING has audio":                    {func(s *Session) { s.Audio[2].File = "" }, "neither audio nor a transcript"},
		"AudioEntry.local_filename: of the folder":         {func(s *Session) { s.Audio[0].File = "../../etc/passwd" }, "audio_entries[0].local_filename"},
		"AudioEntry.local_filename: exists":                {func(s *Session) { s.Audio[0].File = "gone.ogg" }, "audio/gone.ogg is missing"},
		"AudioEntry.transcript_filename: exists":           {func(s *Session) { s.Audio[0].Transcript = "gone.txt" }, "transcripts/gone.txt is missing"},
		"LlmEntry.sequence: from 1":                        {func(s *Session) { s.Answers[0].Sequence = -3 }, "llm_entries[0].sequence is -3"},
		"LlmEntry.sequence: unique":                        {func(s *Session) { s.Answers[1].Sequence = 1 }, "llm_entries[1].sequence is 1, as that of another"},
		"LlmEntry.created_at: there":                       {func(s *Session) { s.Answers[0].CreatedAt = time.Time{} }, "llm_entries[0].created_at"},
		"LlmEntry.oracle_name: non-empty":                  {func(s *Session) { s.Answers[0].OracleName = " " }, "llm_entries[0].oracle_name is empty"},
		"LlmEntry.oracle_id: 8 characters":                 {func(s *Session) { s.Answers[0].OracleID = "abc" }, "llm_entries[0].oracle_id “abc”"},
		"LlmEntry.oracle_id: of a known oracle":            {func(s *Session) { s.Answers[0].OracleID = "ffffffff" }, "ffffffff is that of no oracle"},
		"LlmEntry.response_filename: {seq}_{name}.txt":     {func(s *Session) { s.Answers[0].File = "cetico.txt" }, "does not look like 001_cetico.txt"},
		"LlmEntry.response_filename: exists":               {func(s *Session) { s.Answers[0].File = "009_gone.txt" }, "llm_responses/009_gone.txt is missing"},
		"LlmEntry.response_filename: of the folder":        {func(s *Session) { s.Answers[0].File = "001_../x.txt" }, "llm_entries[0].response_filename"},
		"ContextSnapshot.transcript_count: from 0":         {func(s *Session) { s.Answers[0].Context.Transcripts = -1 }, "a count is less than 0"},
		"ContextSnapshot.llm_response_count: from 0":       {func(s *Session) { s.Answers[0].Context.Responses = -1 }, "a count is less than 0"},
		"ContextSnapshot.total_tokens_estimate: 0 or none": {func(s *Session) { s.Answers[0].Context.TokensEstimate = &minus }, "a count is less than 0"},
	}
	exists := func(file string) bool { return !strings.Contains(file, "gone") }
	oracle := func(id string) bool { return id == "a1b2c3d4" }
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			s := sound()
			rule.breaks(&s)
			got := s.problems(exists, oracle)
			if rule.want == "" {
				same(t, "problems", got, nil)
			} else if !strings.Contains(strings.Join(got, "\n"), rule.want) {
				t.Errorf("problems are %q, want one with “%s”", got, rule.want)
			}
		})
	}
}

func TestCheckLooksForTheFiles(t *testing.T) {
	s := written(t, content(t, "testdata/example.json"))
	problems := strings.Join(assert.Must(s.Check(t.Context(), exampleID, func(id string) bool {
		return id != "e5f6g7h8"
	}))(t), "\n")
	assert.Contains(t, "what is said of the problems", problems,
		"audio/001_audio.ogg is missing", "transcripts/001_audio.txt is missing",
		"llm_responses/002_visionario.txt is missing", "e5f6g7h8")
}
