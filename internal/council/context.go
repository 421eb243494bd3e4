package council

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/redact"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
)

// journalName gives the id of the journal's session for the runs of a Council session, after n earlier ones were
// removed. It is computed, so that the folder need not store it.
func journalName(owner journal.Owner, id string, n int) string {
	return run.IDOf("council", string(owner), id, strconv.Itoa(n))
}

// JournalSession gives the id of the journal's session for the runs of a Council session. The journal may not have it
// yet; if it was removed there, the result is its successor.
func (d Deps) JournalSession(ctx context.Context, owner journal.Owner, id string) (string, error) {
	for n := 0; ; n++ {
		name := journalName(owner, id, n)
		_, err := d.Store.Session(ctx, owner, name)
		var removed *journal.RemovedError
		switch {
		case errors.As(err, &removed):
		case err == nil || errors.Is(err, journal.ErrNotFound):
			return name, nil
		default:
			return "", err
		}
	}
}

// sessionContent is the content of a session, from which a context is assembled.
type sessionContent struct {
	entries []prompt.Entry
	left    []string // what is missing, in words
	doubted []string // what may not have been said, in words
	waiting int      // recordings without a transcript yet
	failed  int      // recordings that could not be transcribed
}

// entriesWithWords gives the entries that have words, or whose file is missing.
func (said *sessionContent) entriesWithWords() []prompt.Entry {
	return slices.DeleteFunc(slices.Clone(said.entries), func(e prompt.Entry) bool {
		return !e.Missing && strings.TrimSpace(e.Text) == ""
	})
}

// language gives the language of a session: the one set, or the one detected in its transcripts.
func (said *sessionContent) language(s session.Session) string {
	var texts []string
	for _, e := range said.entries {
		if e.Oracle == "" {
			texts = append(texts, e.Text)
		}
	}
	return prompt.Language(s.Language, texts)
}

// readContent reads the transcripts and answers of a session, with secrets redacted. A file that is missing or can't be
// read is named in left; the others are read all the same.
func (d Deps) readContent(
	ctx context.Context, folder *session.Store, s session.Session,
) (all sessionContent, err error) {
	for _, e := range s.Audio {
		switch e.Status {
		case session.Pending:
			all.waiting++
		case session.Failure:
			all.failed++
		case session.Success:
			text, err := folder.TranscriptOf(ctx, s.ID, e)
			if ctx.Err() != nil {
				return all, ctx.Err()
			}
			all.noteUnreadable(fmt.Sprintf("transcript %d", e.Sequence), e.Transcript, err)
			kinds := flagKinds(e)
			if n := slices.Index(kinds, otherLanguage); n >= 0 {
				kinds = slices.Delete(kinds, n, n+1)
				all.doubted = append(all.doubted, fmt.Sprintf("transcript %d was heard as %s, which may be wrong", e.Sequence,
					cmp.Or(language.Name(e.Heard), e.Heard)))
			}
			if len(kinds) > 0 {
				all.doubted = append(all.doubted, fmt.Sprintf("transcript %d may contain words nobody said (%s)",
					e.Sequence, strings.Join(kinds, ", ")))
			}
			text = redact.Text(text)
			if e.Blank != "" {
				lacking := fmt.Sprintf("%s without text (pictures; recognise their text, OCR)", e.Blank)
				all.left = append(all.left, fmt.Sprintf("of transcript %d, %s: %s", e.Sequence, redact.Text(e.Original),
					lacking))
				text += "\n\n[Left out: " + lacking + "]"
			}
			all.entries = append(all.entries, prompt.Entry{ID: e.ID(), Sequence: e.Sequence, At: e.ReceivedAt,
				Text: text, Missing: err != nil})
		}
	}
	for _, e := range s.Answers {
		text, err := folder.ResponseOf(ctx, s.ID, e)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		all.noteUnreadable(fmt.Sprintf("answer %d", e.Sequence), e.File, err)
		all.entries = append(all.entries, prompt.Entry{ID: e.ID(), Sequence: e.Sequence, Oracle: e.OracleName,
			At: e.CreatedAt, Text: redact.Text(text), Missing: err != nil})
	}
	if all.waiting > 0 {
		all.left = append(all.left, text.Count(all.waiting, "recording")+" without a transcript yet")
	}
	if all.failed > 0 {
		all.left = append(all.left, fmt.Sprintf("%s that could not be transcribed: ‘sibyl council transcribe --again %s’ "+
			"tries again, and the session is not READY before", text.Count(all.failed, "recording"), s.ID))
	}
	return all, nil
}

// otherLanguage is the kind of flag of a transcript in a language that nobody expects, as package scribe has it.
const otherLanguage = "other_language"

// flagKinds gives the kinds of a transcript's flags, each once.
func flagKinds(e session.AudioEntry) (kinds []string) {
	for _, f := range e.Flags {
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// noteUnreadable adds to left that a file is missing or can't be read; nothing if err is nil.
func (said *sessionContent) noteUnreadable(what, file string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		said.left = append(said.left, fmt.Sprintf("the file of %s is missing: %s", what, file))
	default:
		said.left = append(said.left, fmt.Sprintf("the file of %s can't be read: %v", what, err))
	}
}

// cutInWords says how much fitted into a context: "7 of 9 transcripts"; "" if everything did.
func cutInWords(c session.ContextSnapshot) string {
	var all []string
	count := func(included int, kind, what string) {
		cut := 0
		for _, id := range c.Cut {
			if strings.HasPrefix(id, kind) {
				cut++
			}
		}
		if cut > 0 {
			all = append(all, fmt.Sprintf("%d of %s", included, text.Count(included+cut, what)))
		}
	}
	count(c.Transcripts, "t", "transcript")
	count(c.Responses, "r", "answer")
	return strings.Join(all, ", ")
}

// snapshot describes the context, for the entry of an answer.
func (a *gathered) snapshot() session.ContextSnapshot {
	tokens := a.context.Tokens
	return session.ContextSnapshot{Transcripts: a.context.Transcripts, Responses: a.context.Responses,
		IncludeHistory: a.history, TokensEstimate: &tokens,
		Entries: a.context.Included, Model: a.env.Model, Cut: a.context.Cut}
}

func seatOf(p persona.Persona) Seat { return Seat{p.ID, p.Name, p.Slug} }

// oracleTexts gives the texts that the run of one oracle stores: the oracle, its complete prompt, and the entries of
// the context in it.
func oracleTexts(p persona.Persona, context string, entries run.Text) ([]run.Text, error) {
	oracle, err := jsonText(textOracle, p)
	return []run.Text{oracle, {Name: textPrompt, Content: []byte(prompt.Compose(p, context))}, entries}, err
}

// entriesIn gives the entries that a context includes, as a text of a run.
func entriesIn(c prompt.Context, entries []prompt.Entry) (run.Text, error) {
	return jsonText(textEntries, slices.DeleteFunc(slices.Clone(entries), func(e prompt.Entry) bool {
		return !slices.Contains(c.Included, e.ID)
	}))
}

func jsonText(name string, v any) (run.Text, error) {
	content, err := json.Marshal(v)
	return run.Text{Name: name, Content: content}, err
}

// promptHash gives the hash of the prompt among the texts of a run; "" if there is none.
func promptHash(texts []run.Text) string {
	for _, t := range texts {
		if t.Name == textPrompt {
			return files.Hash(t.Content)
		}
	}
	return ""
}

// Preview is the prompt that an oracle would be sent, and how it was made.
type Preview struct {
	Oracle   Seat                    `json:"oracle"`
	Model    string                  `json:"model,omitempty" doc:"Left out where there is none."`
	Prompt   string                  `json:"prompt"`
	Snapshot session.ContextSnapshot `json:"context_snapshot"`
	Cut      string                  `json:"cut,omitempty" doc:"What did not fit into the model's window."`
	Left     []string                `json:"left_out,omitempty" doc:"What no context has, and why."`
	Doubted  []string                `json:"doubted,omitempty" doc:"What of the context may not have been said."`
}

// Preview gives the exact prompts that the oracles would be sent on a request. It asks no model and stores nothing.
func (d Deps) Preview(ctx context.Context, r assistant.Request, o Options) (all []Preview, err error) {
	folder, err := d.Sessions(r.Owner)
	if err != nil {
		return nil, err
	}
	s, err := folder.Get(ctx, o.Session)
	if err != nil {
		return nil, err
	}
	if _, err := d.keepModel(ctx, r, &o, s); err != nil {
		return nil, err
	}
	a, err := d.gather(ctx, folder, o, s)
	if err != nil {
		return nil, err
	}
	for _, one := range a.oracles {
		p := Preview{Oracle: seatOf(one), Model: a.env.Model, Prompt: prompt.Compose(one, a.context.Text),
			Snapshot: a.snapshot(), Cut: a.env.Cut, Left: a.env.Left, Doubted: a.env.Doubted}
		p.Snapshot.PromptHash = files.Hash([]byte(p.Prompt))
		all = append(all, p)
	}
	return all, nil
}
