package council

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/redact"
	"sibyl/internal/run"
	"sibyl/internal/text"
)

// journalName is the session of the journal that holds the runs about one of the Council's, after n such sessions were
// removed: it follows from the two, so that nothing of it has to be kept in the folder.
func journalName(owner journal.Owner, id string, n int) string {
	return idOf("council", string(owner), id, strconv.Itoa(n))
}

// idOf is an id that follows from what it is of.
func idOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}

// JournalSession is the session of the journal that holds the runs about one of the Council's, or will. One that was
// removed has a successor.
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

// sessionContent is what a session holds, for a context.
type sessionContent struct {
	entries []prompt.Entry
	left    []string // what it lacks, in words
	doubted []string // what of it may not have been said, in words
	waiting int      // recordings without a transcript yet
	failed  int      // that could not be transcribed
}

// entriesWithWords are the entries in which somebody speaks.
func (said *sessionContent) entriesWithWords() []prompt.Entry {
	return slices.DeleteFunc(slices.Clone(said.entries), func(e prompt.Entry) bool {
		return !e.Missing && strings.TrimSpace(e.Text) == ""
	})
}

// language is what is spoken in a session.
func (said *sessionContent) language(s session.Session) string {
	var texts []string
	for _, e := range said.entries {
		if e.Oracle == "" {
			texts = append(texts, e.Text)
		}
	}
	return prompt.Language(s.Language, texts)
}

// readContent reads what a session holds, without secrets: they leave neither with a prompt nor with an export. A file
// that is missing or can't be read is named, and the others are read.
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
			if kinds := flagKinds(e); len(kinds) > 0 {
				all.doubted = append(all.doubted, fmt.Sprintf("transcript %d may contain words nobody said (%s)",
					e.Sequence, strings.Join(kinds, ", ")))
			}
			all.entries = append(all.entries, prompt.Entry{ID: e.ID(), Sequence: e.Sequence, At: e.ReceivedAt,
				Text: redact.Text(text), Missing: err != nil})
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
		all.left = append(all.left, text.Count(all.failed, "recording")+" that could not be transcribed")
	}
	return all, nil
}

// flagKinds are the kinds of flags of a transcript.
func flagKinds(e session.AudioEntry) (kinds []string) {
	for _, f := range e.Flags {
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// noteUnreadable notes that a file could not be read, if err says so.
func (said *sessionContent) noteUnreadable(what, file string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		said.left = append(said.left, fmt.Sprintf("the file of %s is missing: %s", what, file))
	default:
		said.left = append(said.left, fmt.Sprintf("the file of %s can't be read: %v", what, err))
	}
}

// cutInWords says what did not fit; "" if all did.
func cutInWords(c prompt.Context) string {
	var all []string
	if c.Transcripts < c.TranscriptsOf {
		all = append(all, fmt.Sprintf("%d of %s", c.Transcripts, text.Count(c.TranscriptsOf, "transcript")))
	}
	if c.Responses < c.ResponsesOf {
		all = append(all, fmt.Sprintf("%d of %s", c.Responses, text.Count(c.ResponsesOf, "answer")))
	}
	return strings.Join(all, ", ")
}

// contextRoom is how many tokens of the context fit into the model's window beside so many others; 0: all of them.
func (p *performer) contextRoom(ctx context.Context, tokens int) (int, error) {
	content, err := p.view.Text(ctx, textContext)
	if err != nil {
		return 0, err
	}
	room := requestTokens(p.Describe(ctx, p.env.Model).Window) - tokens
	if p.view.Blob(textEntries) == "" || room >= agent.Tokens(string(content)) {
		return 0, nil
	}
	return max(room, 1), nil
}

// contextWithin is the context of the run within so many tokens, assembled anew; 0: the text as it is.
func (p *performer) contextWithin(ctx context.Context, room int) (c prompt.Context, err error) {
	if room == 0 {
		content, err := p.view.Text(ctx, textContext)
		return prompt.Context{Text: string(content)}, err
	}
	var entries []prompt.Entry
	content, err := p.view.Text(ctx, textEntries)
	if err == nil {
		err = json.Unmarshal(content, &entries)
	}
	return prompt.Assemble(entries, prompt.Options{Language: p.env.Language, History: true, Budget: room}), err
}

// snapshot is how the context was made.
func (a *gathered) snapshot() session.ContextSnapshot {
	tokens := a.context.Tokens
	return session.ContextSnapshot{Transcripts: a.context.Transcripts, Responses: a.context.Responses,
		IncludeHistory: a.history, TokensEstimate: &tokens,
		Entries: a.context.Included, Model: a.env.Model, Cut: a.context.Cut}
}

func seatOf(p persona.Persona) Seat { return Seat{p.ID, p.Name, p.Slug} }

// oracleTexts are what the run of one oracle keeps: the very prompt, and whose it is.
func oracleTexts(p persona.Persona, context string) ([]run.Text, error) {
	oracle, err := jsonText(textOracle, p)
	return []run.Text{oracle, {Name: textPrompt, Content: []byte(prompt.Compose(p, context))}}, err
}

// sharedTexts are what all oracles of a sitting have in common.
func (a *gathered) sharedTexts() ([]run.Text, error) {
	entries, err := jsonText(textEntries, a.entries)
	return []run.Text{entries, {Name: textContext, Content: []byte(a.context.Text)}}, err
}

func jsonText(name string, v any) (run.Text, error) {
	content, err := json.Marshal(v)
	return run.Text{Name: name, Content: content}, err
}

// promptHash names the prompt among the texts of a run.
func promptHash(texts []run.Text) string {
	for _, t := range texts {
		if t.Name == textPrompt {
			return files.Hash(t.Content)
		}
	}
	return ""
}

// Preview is what an oracle would be asked.
type Preview struct {
	Oracle   Seat                    `json:"oracle"`
	Model    string                  `json:"model,omitempty" doc:"Left out where there is none."`
	Prompt   string                  `json:"prompt"`
	Snapshot session.ContextSnapshot `json:"context_snapshot"`
	Cut      string                  `json:"cut,omitempty" doc:"What did not fit into the model's window."`
	Left     []string                `json:"left_out,omitempty" doc:"What no context has, and why."`
	Doubted  []string                `json:"doubted,omitempty" doc:"What of the context may not have been said."`
}

// Preview gives the very prompts that oracles would be sent. Nothing is asked, and nothing kept.
func (d Deps) Preview(ctx context.Context, owner journal.Owner, o Options) (all []Preview, err error) {
	folder, err := d.Sessions(owner)
	if err != nil {
		return nil, err
	}
	s, err := folder.Get(ctx, o.Session)
	if err != nil {
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
