package api

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
)

// These forms are those of the Council itself. schemaName has their names.
type (
	CouncilPreferences = session.Preferences
	CouncilFlag        = session.Flag
	CouncilSnapshot    = session.ContextSnapshot
	CouncilSkipped     = session.Skipped
	CouncilFinding     = session.Finding
	CouncilHit         = session.Hit
	CouncilSaid        = prompt.Entry
)

// CouncilSession is a session of the Council, as its metadata.json has it.
type CouncilSession struct {
	ID          string             `json:"session_id"`
	State       session.State      `json:"state" enum:"COLLECTING,TRANSCRIBING,TRANSCRIBED,READY,INTERRUPTED,ERROR"`
	Entries     []CouncilEntry     `json:"audio_entries" doc:"What was said, in the order in which it came."`
	Answers     []CouncilAnswer    `json:"llm_entries" doc:"What oracles answered, in the order in which it came."`
	Preferences CouncilPreferences `json:"ui_preferences"`
	Name        string             `json:"name,omitempty"`
	NamedBy     string             `json:"named_by,omitempty" doc:"words (the first that were said), person, or a model."`
	Language    string             `json:"language,omitempty" doc:"Left out: it is found out."`
	CreatedAt   time.Time          `json:"created_at,omitzero"`
	Mended      []string           `json:"mended,omitempty" doc:"What was put right that a crash, a stop or a full disk had left."`
}

// CouncilEntry is something that was said: a recording, or words typed in.
type CouncilEntry struct {
	Sequence   int            `json:"sequence" doc:"From 1."`
	ReceivedAt time.Time      `json:"received_at"`
	File       string         `json:"local_filename,omitempty" doc:"Left out of words typed in."`
	Size       int64          `json:"file_size_bytes"`
	Seconds    *float64       `json:"duration_seconds,omitempty" doc:"Left out where it is not known."`
	Status     session.Status `json:"transcription_status" enum:"PENDING,SUCCESS,FAILED"`
	Transcript string         `json:"transcript_filename,omitempty"`
	Checksum   string         `json:"checksum,omitempty"`
	Original   string         `json:"original_filename,omitempty" doc:"What it was called where it came from."`
	Silent     bool           `json:"silent,omitempty" doc:"Nothing is to be heard."`
	By         string         `json:"transcribed_by,omitempty"`
	Heard      string         `json:"heard_language,omitempty"`
	Flags      []CouncilFlag  `json:"transcript_flags,omitempty" doc:"What of the transcript is not to be trusted."`
	Error      string         `json:"transcription_error,omitempty"`
	Attempts   int            `json:"transcription_attempts,omitempty"`
}

// CouncilAnswer is an answer that lies in a session's folder.
type CouncilAnswer struct {
	Sequence  int             `json:"sequence" doc:"From 1."`
	CreatedAt time.Time       `json:"created_at"`
	Oracle    string          `json:"oracle_name"`
	OracleID  string          `json:"oracle_id"`
	File      string          `json:"response_filename"`
	Context   CouncilSnapshot `json:"context_snapshot"`
	Run       string          `json:"run,omitempty"`
	Kind      string          `json:"kind,omitempty" doc:"chair for what a chair made of several answers; left out of an oracle's answer."`
}

// CouncilSummary is a session as lists have it.
type CouncilSummary struct {
	ID        string        `json:"session_id"`
	State     session.State `json:"state" enum:"COLLECTING,TRANSCRIBING,TRANSCRIBED,READY,INTERRUPTED,ERROR"`
	Name      string        `json:"name,omitempty"`
	Language  string        `json:"language,omitempty"`
	CreatedAt time.Time     `json:"created_at,omitzero"`
	Said      int           `json:"said" doc:"How many recordings and texts it has."`
	Waiting   int           `json:"not_transcribed" doc:"How many of them have no transcript."`
	Answered  int           `json:"answered" doc:"How many answers it has."`
}

// CouncilSessions is a part of the list of sessions, the newest first.
type CouncilSessions struct {
	Sessions []CouncilSummary `json:"sessions"`
	Skipped  []CouncilSkipped `json:"skipped" doc:"What can't be read, and is left out. Repairing a session rebuilds it."`
	Next     string           `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// CouncilExport is a session with all its words.
type CouncilExport struct {
	Session  CouncilSession `json:"session"`
	Said     []CouncilSaid  `json:"entries" doc:"In the order of time."`
	Problems []string       `json:"problems" doc:"What breaks the rules of its form."`
	Left     []string       `json:"left_out" doc:"What no context has, and why."`
}

// CouncilTrashed is a session that was deleted.
type CouncilTrashed struct {
	ID    string `json:"session_id"`
	Trash string `json:"trash" doc:"What it is called in the trash folder beside the sessions, from which whoever runs the server can move it back."`
}

// CouncilRepaired is what was found in a session, and put right.
type CouncilRepaired struct {
	ID       string           `json:"session_id"`
	Findings []CouncilFinding `json:"findings"`
	Changed  bool             `json:"changed"`
	Mended   []string         `json:"mended,omitempty"`
}

// CouncilHits are the places that have the words that were looked for, the newest first.
type CouncilHits struct {
	Hits []CouncilHit `json:"hits"`
}

// CouncilOracle is an oracle as lists have it.
type CouncilOracle struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	About       string       `json:"about,omitempty" doc:"The first sentence of its file."`
	File        string       `json:"file_path" doc:"The name of its file: where the folder lies is the server's own business."`
	Placeholder string       `json:"placeholder"`
	Mode        persona.Mode `json:"mode" enum:"placeholder,append"`
	Language    string       `json:"language,omitempty"`
	Warnings    []string     `json:"warnings"`
}

// CouncilOracles are the oracles of the server, and the files that can't be used.
type CouncilOracles struct {
	Oracles []CouncilOracle        `json:"oracles"`
	Skipped []CouncilSkippedOracle `json:"skipped"`
}

// CouncilSkippedOracle is a file that can't be used.
type CouncilSkippedOracle struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// CouncilPersona is an oracle with its text.
type CouncilPersona struct {
	CouncilOracle
	Content string `json:"content" doc:"Markdown."`
}

func councilSessionForm(o council.Opened, tell func(string) string) CouncilSession {
	return CouncilSession{ID: o.ID, State: o.State, Answers: forms(o.Answers, councilAnswerForm), Preferences: o.Preferences,
		Name: o.Name, NamedBy: o.NamedBy, Language: o.Language, CreatedAt: o.CreatedAt, Mended: told(o.Mended, tell),
		Entries: forms(o.Audio, func(e session.AudioEntry) CouncilEntry { return councilEntryForm(e, tell) })}
}

func councilEntryForm(e session.AudioEntry, tell func(string) string) CouncilEntry {
	return CouncilEntry{Sequence: e.Sequence, ReceivedAt: e.ReceivedAt, File: e.File, Size: e.Size, Seconds: e.Seconds, Status: e.Status, Transcript: e.Transcript, Checksum: e.Checksum,
		Original: e.Original, Silent: e.Silent, By: e.By, Heard: e.Heard, Flags: e.Flags, Error: tell(e.Error), Attempts: e.Attempts}
}

func councilAnswerForm(e session.LlmEntry) CouncilAnswer {
	return CouncilAnswer{Sequence: e.Sequence, CreatedAt: e.CreatedAt, Oracle: e.OracleName, OracleID: e.OracleID, File: e.File, Context: e.Context, Run: e.Run, Kind: e.Kind}
}

func councilSummaryForm(m session.Session) CouncilSummary {
	f := CouncilSummary{ID: m.ID, State: m.State, Name: m.Name, Language: m.Language, CreatedAt: m.CreatedAt, Said: len(m.Audio), Answered: len(m.Answers)}
	for _, e := range m.Audio {
		if e.Status != session.Success {
			f.Waiting++
		}
	}
	return f
}

func councilExportForm(x council.Export, tell func(string) string) CouncilExport {
	return CouncilExport{Session: councilSessionForm(council.Opened{Session: x.Session}, tell), Said: list(x.Entries), Problems: list(told(x.Problems, tell)), Left: list(told(x.Left, tell))}
}

func councilRepairedForm(r council.Repaired, tell func(string) string) CouncilRepaired {
	return CouncilRepaired{ID: r.Session, Changed: r.Changed || len(r.Mended) > 0, Mended: told(r.Mended, tell), Findings: forms(r.Findings, func(one session.Finding) CouncilFinding {
		one.Text = tell(one.Text)
		return one
	})}
}

// councilOracleForm tells of an oracle, with the name of its file: where that lies is the server's own business.
func councilOracleForm(p persona.Persona) CouncilOracle {
	return CouncilOracle{ID: p.ID, Name: p.Name, About: council.About(p), File: filepath.Base(p.File), Placeholder: p.Placeholder, Mode: p.Mode, Language: p.Language, Warnings: told(list(p.Warnings), withoutFolder(filepath.Dir(p.File)))}
}

// told are remarks as they are told to somebody elsewhere.
func told(all []string, tell func(string) string) []string {
	all = slices.Clone(all)
	for i := range all {
		all[i] = tell(all[i])
	}
	return all
}

// withoutFolder takes a folder of this machine out of a remark: what is in it keeps its name.
func withoutFolder(folder string) func(string) string {
	return func(text string) string {
		text = strings.ReplaceAll(text, folder+string(filepath.Separator), "")
		return strings.ReplaceAll(text, folder, fmt.Sprintf("the folder “%s”", filepath.Base(folder)))
	}
}
