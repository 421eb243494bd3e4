package session

import (
	"strings"
	"time"

	"sibyl/internal/jsonobject"
)

// The folders of a session.
const (
	audioFolder      = "audio"
	transcriptFolder = "transcripts"
	responseFolder   = "llm_responses"
	metadataFile     = "metadata.json"
)

// Status says how far the transcription of an entry is.
type Status string

// The statuses of an entry.
const (
	Pending Status = "PENDING"
	Success Status = "SUCCESS"
	Failure Status = "FAILED"
)

// Who gave a session its name. Anything else in NamedBy is a model, as "provider:model".
const (
	ByWords  = "words"  // the first words of the first transcript
	ByPerson = "person" // whose name no other replaces
)

// Session is what metadata.json holds. Times are UTC, whatever their notation in the file. encoding/json gives it as metadata.json has it, without the
// members that are not known here.
type Session struct {
	ID          string       `json:"session_id"` // "2025-12-20_10-30-00", UTC, and "_02" and so on where that is taken; always the name of the folder
	State       State        `json:"state"`
	Audio       []AudioEntry `json:"audio_entries"` // in the order in which they came
	Answers     []LlmEntry   `json:"llm_entries"`   // in the order in which they came
	Preferences Preferences  `json:"ui_preferences"`
	Name        string       `json:"name,omitempty"`
	NamedBy     string       `json:"named_by,omitempty"` // ByWords, ByPerson, or a model
	Language    string       `json:"language,omitempty"` // "pt", "en", "de" and so on; "": not said
	CreatedAt   time.Time    `json:"created_at,omitzero"`

	jsonobject.Kept
	other bool // the file has another id, said, or none
	said  string
}

// AudioEntry is something that was said: a recording, or words typed in, which have a transcript and no file.
type AudioEntry struct {
	Sequence   int       `json:"sequence"` // 1 and on, of this entry alone
	ReceivedAt time.Time `json:"received_at"`
	File       string    `json:"local_filename,omitempty"` // in audio/: "001_audio.ogg"; "": words typed in
	Size       int64     `json:"file_size_bytes"`
	Seconds    *float64  `json:"duration_seconds,omitempty"` // nil: not known
	Status     Status    `json:"transcription_status"`
	Transcript string    `json:"transcript_filename,omitempty"` // in transcripts/: "001_audio.txt"
	Checksum   string    `json:"checksum,omitempty"`            // "sha256:" and hex digits, of what was received
	Original   string    `json:"original_filename,omitempty"`   // a label, never a path
	Silent     bool      `json:"silent,omitempty"`              // nothing is to be heard
	By         string    `json:"transcribed_by,omitempty"`
	Heard      string    `json:"heard_language,omitempty"`
	Flags      []Flag    `json:"transcript_flags,omitempty"`
	Times      string    `json:"transcript_times,omitempty"`    // "0=0 45=3.25": from which byte of the transcript on what is said is heard when, in seconds
	Error      string    `json:"transcription_error,omitempty"` // why it FAILED, or has still the transcript that it had
	Attempts   int       `json:"transcription_attempts,omitempty"`
	Deliveries []string  `json:"deliveries,omitempty"` // what it arrived as in pieces; none: it came whole

	jsonobject.Kept
}

// Flag marks a part of a transcript that is not to be trusted.
type Flag struct {
	Kind  string  `json:"kind"` // "silence", "ghost", "low_confidence"
	Text  string  `json:"text,omitempty"`
	Start float64 `json:"start_seconds,omitempty"`
	End   float64 `json:"end_seconds,omitempty"`

	jsonobject.Kept
}

// LlmEntry is an answer.
type LlmEntry struct {
	Sequence   int             `json:"sequence"` // 1 and on, of this answer alone
	CreatedAt  time.Time       `json:"created_at"`
	OracleName string          `json:"oracle_name"`
	OracleID   string          `json:"oracle_id"`         // 8 characters
	File       string          `json:"response_filename"` // in llm_responses/: "001_cetico.txt"
	Context    ContextSnapshot `json:"context_snapshot"`
	Run        string          `json:"run,omitempty"`
	Operation  string          `json:"operation,omitempty"` // what saved it; one answer each
	Kind       string          `json:"kind,omitempty"`      // "": an oracle's answer; "chair": what a chair made of several

	jsonobject.Kept
}

// ContextSnapshot says what an oracle was told.
type ContextSnapshot struct {
	Transcripts    int      `json:"transcript_count"`
	Responses      int      `json:"llm_response_count"`
	IncludeHistory bool     `json:"include_llm_history"`
	TokensEstimate *int     `json:"total_tokens_estimate,omitempty"` // nil: not estimated
	Entries        []string `json:"entry_ids,omitempty"`             // "t1": transcript 1, "r2": answer 2
	PromptHash     string   `json:"prompt_hash,omitempty"`
	Model          string   `json:"model,omitempty"`
	Cut            []string `json:"cut,omitempty"` // ids that were left out for want of room

	jsonobject.Kept
}

// Preferences are what the person chose for the session.
type Preferences struct {
	SimplifiedButtons bool `json:"simplified_buttons"`
	IncludeLLMHistory bool `json:"include_llm_history"` // true where the file does not say

	jsonobject.Kept
}

// Defaults sets what is not zero where metadata.json does not say.
func (s *Session) Defaults() {
	s.Audio, s.Answers = []AudioEntry{}, []LlmEntry{}
	s.Preferences.Defaults()
}

// Defaults sets what is not zero where metadata.json does not say.
func (p *Preferences) Defaults() { p.IncludeLLMHistory = true }

// decode reads the content of metadata.json.
func decode(content []byte) (s Session, err error) {
	err = jsonobject.Decode(content, &s)
	return s, err
}

// entry finds an entry by its sequence; nil if there is none. It points into s.
func (s *Session) entry(sequence int) *AudioEntry {
	for i := range s.Audio {
		if s.Audio[i].Sequence == sequence {
			return &s.Audio[i]
		}
	}
	return nil
}

// answer finds an answer by its sequence; nil if there is none. It points into s.
func (s *Session) answer(sequence int) *LlmEntry {
	for i := range s.Answers {
		if s.Answers[i].Sequence == sequence {
			return &s.Answers[i]
		}
	}
	return nil
}

// pending says whether something waits to be transcribed.
func (s *Session) pending() bool {
	for _, e := range s.Audio {
		if e.Status == Pending {
			return true
		}
	}
	return false
}

// stamp is the form of an id without its number.
const stamp = "2006-01-02_15-04-05"

// parseID takes an id apart: the second, and the number among the sessions of that second, 1 for the first. Nothing else is an id, so that
// none can be a path.
func parseID(id string) (at time.Time, number int, ok bool) {
	if len(id) < len(stamp) {
		return at, 0, false
	}
	at, err := time.Parse(stamp, id[:len(stamp)])
	if err != nil || at.Format(stamp) != id[:len(stamp)] {
		return at, 0, false
	}
	rest := id[len(stamp):]
	if rest == "" {
		return at, 1, true
	}
	digits, found := strings.CutPrefix(rest, "_")
	number, ok = parseNumber(digits, 2, 4)
	return at, number, found && ok && number > 1
}

// parseNumber reads a number of so many ASCII digits.
func parseNumber(digits string, least, most int) (n int, ok bool) {
	if len(digits) < least || len(digits) > most {
		return 0, false
	}
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, true
}
