package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/text/jsonobject"
)

// The folders of a session.
const (
	audioFolder      = "audio"
	transcriptFolder = "transcripts"
	responseFolder   = "llm_responses"
	metadataFile     = "metadata.json"
)

// Status is the status of an entry's transcription.
type Status string

// The statuses of an entry.
const (
	Pending Status = "PENDING"
	Success Status = "SUCCESS"
	Failure Status = "FAILED"
)

// Values of NamedBy: where the name of a session comes from. Any other value is a model, as "provider:model".
const (
	ByWords  = "words"  // the first words of the first transcript
	ByPerson = "person" // no other namer replaces it
)

// Session is the content of metadata.json. Times are in UTC, whatever their notation in the file. encoding/json writes
// it in the form of metadata.json, without the unknown members.
type Session struct {
	// "2025-12-20_10-30-00", UTC, with "_02" and so on if that is taken; always the name of the folder
	ID          string       `json:"session_id"`
	State       State        `json:"state" enum:"COLLECTING,TRANSCRIBING,TRANSCRIBED,READY,INTERRUPTED,ERROR"`
	Audio       []AudioEntry `json:"audio_entries" doc:"What was said, in the order in which it came."`
	Answers     []LlmEntry   `json:"llm_entries" doc:"What oracles answered, in the order in which it came."`
	Preferences Preferences  `json:"ui_preferences"`
	Name        string       `json:"name,omitempty"`
	NamedBy     string       `json:"named_by,omitempty" doc:"words (the first that were said), person, or a model."`
	Language    string       `json:"language,omitempty" doc:"Left out: it is found out."`
	CreatedAt   time.Time    `json:"created_at,omitzero"`

	jsonobject.Kept
	misnamed bool // the file has another id than the folder: namedID, "" if it has none
	namedID  string
}

// AudioEntry is something that was said: a recording, or a typed or imported text, which has a transcript and no audio.
type AudioEntry struct {
	Sequence   int       `json:"sequence" doc:"From 1."` // unique among the entries
	ReceivedAt time.Time `json:"received_at"`
	// in audio/: "001_audio.ogg"
	File    string   `json:"local_filename,omitempty" doc:"Left out of words typed in."`
	Size    int64    `json:"file_size_bytes"`
	Seconds *float64 `json:"duration_seconds,omitempty" doc:"Left out where it is not known."`
	Status  Status   `json:"transcription_status" enum:"PENDING,SUCCESS,FAILED"`
	// in transcripts/: "001_audio.txt"
	Transcript string `json:"transcript_filename,omitempty"`
	// "sha256:" and hex digits, of the received audio or of the text
	Checksum string `json:"checksum,omitempty"`
	// a label, never a path
	Original string `json:"original_filename,omitempty" doc:"What it was called where it came from."`
	Silent   bool   `json:"silent,omitempty" doc:"Nothing is to be heard."`
	By       string `json:"transcribed_by,omitempty"`
	Heard    string `json:"heard_language,omitempty"`
	Flags    []Flag `json:"transcript_flags,omitempty" doc:"What of the transcript is not to be trusted."`
	Blank    string `json:"pages_without_text,omitempty" doc:"Of a document: the pages that are in no context, such as pp. 2-4."`
	// "0=0 45=3.25": a byte offset in the transcript, and the second at which the text from there is said
	Times string `json:"transcript_times,omitempty" hidden:"true"`
	// why it FAILED, or why transcribing it again failed, so that it is SUCCESS with its old transcript
	Error    string `json:"transcription_error,omitempty"`
	Code     string `json:"why_code,omitempty" doc:"Names the sentence of that error, for who words it in other languages."`
	Attempts int    `json:"transcription_attempts,omitempty"`

	jsonobject.Kept
}

// Flag marks a doubtful passage of a transcript.
type Flag struct {
	Kind  string  `json:"kind"` // "silence", "ghost", "low_confidence", "other_language"
	Text  string  `json:"text,omitempty"`
	Start float64 `json:"start_seconds,omitempty"`
	End   float64 `json:"end_seconds,omitempty"`

	jsonobject.Kept
}

// LlmEntry describes an answer of an oracle or a chair; its text is in File.
type LlmEntry struct {
	Sequence   int             `json:"sequence" doc:"From 1."` // unique among the answers
	CreatedAt  time.Time       `json:"created_at"`
	OracleName string          `json:"oracle_name"`
	OracleID   string          `json:"oracle_id"`         // 8 characters
	File       string          `json:"response_filename"` // in llm_responses/: "001_cetico.txt"
	Context    ContextSnapshot `json:"context_snapshot"`
	Run        string          `json:"run,omitempty"`
	Operation  string          `json:"operation,omitempty" hidden:"true"` // identifies the effect that saved it
	Kind       string          `json:"kind,omitempty" doc:"chair for what a chair made of several answers; left out of an oracle's answer."`

	jsonobject.Kept
}

// ContextSnapshot describes the context that an answer was based on.
type ContextSnapshot struct {
	Transcripts    int      `json:"transcript_count"`
	Responses      int      `json:"llm_response_count"`
	IncludeHistory bool     `json:"include_llm_history"`
	TokensEstimate *int     `json:"total_tokens_estimate,omitempty"` // nil: not estimated
	Entries        []string `json:"entry_ids,omitempty" doc:"t1 is transcript 1, r2 answer 2."`
	PromptHash     string   `json:"prompt_hash,omitempty"`
	Model          string   `json:"model,omitempty"`
	Cut            []string `json:"cut,omitempty" doc:"What was left out for want of room."`

	jsonobject.Kept
}

// Preferences are the person's choices for the session.
type Preferences struct {
	SimplifiedButtons bool `json:"simplified_buttons"`
	// true if the file does not have it
	IncludeLLMHistory bool `json:"include_llm_history" doc:"Earlier answers are in the context."`

	jsonobject.Kept
}

// Defaults sets the values of members that metadata.json lacks: empty lists instead of nil, and the preferences.
func (s *Session) Defaults() {
	s.Audio, s.Answers = []AudioEntry{}, []LlmEntry{}
	s.Preferences.Defaults()
}

// Defaults sets the values of members that metadata.json lacks.
func (p *Preferences) Defaults() { p.IncludeLLMHistory = true }

// ID gives the entry's id in a context: "t1".
func (e AudioEntry) ID() string { return "t" + strconv.Itoa(e.Sequence) }

// ID gives the answer's id in a context: "r2".
func (e LlmEntry) ID() string { return "r" + strconv.Itoa(e.Sequence) }

// Began gives the time at which the session began: CreatedAt, or the time in its id if that is zero.
func (s *Session) Began() time.Time {
	if !s.CreatedAt.IsZero() {
		return s.CreatedAt
	}
	at, _, _ := ParseID(s.ID)
	return at
}

// Entry finds an entry by its sequence; nil if there is none. The result points into s.
func (s *Session) Entry(sequence int) *AudioEntry {
	if i := slices.IndexFunc(s.Audio, func(e AudioEntry) bool { return e.Sequence == sequence }); i >= 0 {
		return &s.Audio[i]
	}
	return nil
}

// Response finds an answer by its sequence; nil if there is none. The result points into s.
func (s *Session) Response(sequence int) *LlmEntry {
	if i := slices.IndexFunc(s.Answers, func(e LlmEntry) bool { return e.Sequence == sequence }); i >= 0 {
		return &s.Answers[i]
	}
	return nil
}

// hasStatus reports whether any entry has this status.
func (s *Session) hasStatus(status Status) bool {
	return slices.ContainsFunc(s.Audio, func(e AudioEntry) bool { return e.Status == status })
}

// Waiting counts the entries without a transcript.
func (s *Session) Waiting() (n int) {
	for _, e := range s.Audio {
		if e.Status != Success {
			n++
		}
	}
	return n
}

// stamp is the layout of an id without its number.
const stamp = "2006-01-02_15-04-05"

// ParseID splits an id into its time and the number among the sessions of that second, from 1. Only this exact form is
// an id, so an id is never a path.
func ParseID(id string) (at time.Time, number int, ok bool) {
	second, rest := id[:min(len(id), len(stamp))], id[min(len(id), len(stamp)):]
	if rest != "" {
		digits, numbered := strings.CutPrefix(rest, "_")
		if number, ok = parseNumber(digits, 2, 4); !ok || !numbered || number < 2 {
			return at, 0, false
		}
	}
	at, err := time.Parse(stamp, second)
	return at, max(number, 1), err == nil && at.Format(stamp) == second
}

// parseNumber reads a number of least to most ASCII digits.
func parseNumber(digits string, least, most int) (n int, ok bool) {
	if len(digits) < least || len(digits) > most || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// splitSequence splits the name of a file into its sequence and the rest: "001_audio.ogg" into 1 and "audio.ogg".
func splitSequence(name string) (sequence int, rest string, ok bool) {
	digits, rest, found := strings.Cut(name, "_")
	if sequence, ok = parseNumber(digits, 3, 6); !found || !ok || sequence == 0 {
		return 0, rest, false
	}
	return sequence, rest, true
}
