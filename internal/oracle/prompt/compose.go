package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/text"
)

// A context is large when its history exceeds either of these.
const (
	largeHistory       = 24_000 // tokens
	largeWindowPercent = 60
)

// maxName is how much is shown of the name of a tool or a source, in characters: strangers may have written it.
const maxName = 100

const separator = "\n\n"

// The conditions of segments. The condition of a query type is queryTypeIs followed by a classify.Type.
const (
	always       = "always"
	queryTypeIs  = "query_type="
	largeContext = "context=large"
	hadError     = "error=true"
	lookedUp     = "looked_up=true"
	signalsAre   = "signals="
	givenIs      = "given="
)

// What people may give, each in a segment of this id and with a variable of this name.
const (
	Instructions = "instructions"
	Preset       = "preset"
	Folder       = "folder" // what the searched folders say
)

// The ways in which a model is told to report. Each prompt has one of them.
const (
	SignalsFull = "full"
	SignalsTool = "tool" // by a call
	SignalsOff  = "off"  // not at all

	// SignalsNone is for a model that can't call tools: it reports nothing, and its prompt has the segments of this
	// condition alone.
	SignalsNone = "none"
)

func signalForms() []string { return []string{SignalsFull, SignalsTool, SignalsOff, SignalsNone} }

// keepsTextClean says whether a model that reports so writes no signals into its text.
func keepsTextClean(form string) bool { return form == SignalsTool || form == SignalsOff }

// AllTypes is the query type of a prompt for every question: it includes the segments of all types.
const AllTypes = "all"

// Situation is everything that a prompt depends on.
type Situation struct {
	QueryType     string   // a classify.Type, or AllTypes
	Tools         []string // names of the tools that are sent; none: no tools are
	Callable      []string // names of those that may be called for the question
	Sources       []string // what is connected, as the prompt shall say it: "code", "web"
	Missing       []string // what is not connected, likewise
	MaxTurns      int      // the turn budget, at least 1
	HistoryTokens int      // the conversation so far, as agent.Tokens estimates it
	WindowTokens  int      // the model's context window; 0 if not known
	Noted         bool     // notes replace a part of the conversation
	HadError      bool     // a call failed in this run
	Date          string   // today, as the prompt shall say it; empty: it says none
	Signals       string   // one of the forms above; empty: SignalsFull
	BareCalls     bool     // a call must stand alone in a reply
	LookedUp      bool     // it is to answer from what was looked up
	General       bool     // or from its own knowledge
	Found         bool     // what was looked up surely is about the question

	Instructions, Preset, Folder string // as people gave them; "": they did not
}

// Composed is a prompt and what it was composed of.
type Composed struct {
	Text       string // the system prompt
	Note       string // with the question
	Tokens     int    // of both
	ToolTokens int    // of the names of tools in them, which do not count towards Limit
	Segments   []Included
	LeftOut    []LeftOut
}

// Included is a segment in the prompt, with the tokens it takes there.
type Included struct {
	ID     string `json:"id"`
	File   string `json:"file"`
	Tokens int    `json:"tokens"`
	Noted  bool   `json:"noted,omitempty"` // it is in the note with the question
	Text   string `json:"-"`               // as it stands there
}

// LeftOut is a segment whose conditions hold, but which did not fit.
type LeftOut struct {
	ID     string
	Reason string
}

// Compose composes the prompt for s. It fails if the names of the sources make the required segments too long.
func (r *Set) Compose(s Situation) (Composed, error) {
	yes := map[bool]string{true: "yes"}
	v := values{varMaxTurns: strconv.Itoa(s.MaxTurns), varTools: nameList(s.Tools), varCallable: nameList(s.Callable),
		varSources: nameList(s.Sources), varMissing: nameList(s.Missing), varDate: text.Brief(s.Date, maxName),
		varReportTool: yes[keepsTextClean(s.Signals)], varBareCalls: yes[s.BareCalls],
		varGeneral: yes[s.General], varDoubtful: yes[!s.General && !s.Found],
		Instructions: s.Instructions, Preset: s.Preset, Folder: s.Folder}
	conditions := s.conditions()
	parts, err := r.fillRequired(v, conditions)
	if err != nil {
		return Composed{}, err
	}
	var leftOut []LeftOut
	free := Limit*agent.CharsPerToken - countedChars(parts)
	for i, segment := range r.segments {
		if segment.required() || !holdAll(segment.Conditions, conditions) {
			continue
		}
		filled, _ := r.templates[i].fill(v) // it was tried when the set was made
		need := countedChars([]part{filled}) + len(separator)
		if need > free {
			leftOut = append(leftOut, LeftOut{ID: segment.ID, Reason: fmt.Sprintf(
				"it takes %d tokens; %d of %d are left", agent.TokensOf(need), free/agent.CharsPerToken, Limit)})
			continue
		}
		free -= need
		parts[i] = filled
	}
	return r.join(parts, leftOut), nil
}

// fillRequired fills in the required segments of a situation. The result has one part for each segment of the set;
// those of other segments are empty.
func (r *Set) fillRequired(v values, conditions []string) ([]part, error) {
	parts := make([]part, len(r.segments))
	var files []string
	for i, segment := range r.segments {
		if segment.required() && holdAll(segment.Conditions, conditions) {
			parts[i], _ = r.templates[i].fill(v) // it was tried when the set was made
			files = append(files, segment.File)
		}
	}
	if chars := countedChars(parts); chars > Limit*agent.CharsPerToken {
		return nil, fmt.Errorf("the required prompts %s take %d tokens together, without tools, but only %d fit: "+
			"shorten them", strings.Join(files, ", "), agent.TokensOf(chars), Limit)
	}
	return parts, nil
}

// countedChars is what counts towards the limit: the characters of the joined parts without the names of tools.
func countedChars(parts []part) int {
	chars, filled := 0, 0
	for _, p := range parts {
		if p.text != "" {
			chars += p.chars - p.toolChars
			filled++
		}
	}
	return chars + max(0, filled-1)*len(separator)
}

// join makes the prompt of the parts that are not empty.
func (r *Set) join(parts []part, leftOut []LeftOut) Composed {
	c := Composed{LeftOut: leftOut}
	toolChars := 0
	for _, noted := range []bool{false, true} {
		var texts []string
		for i, p := range parts {
			if p.text == "" || r.segments[i].Noted != noted {
				continue
			}
			texts = append(texts, p.text)
			toolChars += p.toolChars
			c.Segments = append(c.Segments, Included{ID: r.segments[i].ID, File: r.segments[i].File,
				Tokens: agent.TokensOf(p.chars), Noted: noted, Text: p.text})
		}
		joined := strings.Join(texts, separator)
		c.Tokens += agent.Tokens(joined)
		if noted {
			c.Note = joined
		} else {
			c.Text = joined
		}
	}
	c.ToolTokens = agent.TokensOf(toolChars)
	return c
}

// Large says whether the history is large, by itself or for the window of the model, or was so until notes replaced it.
// The prompt depends on the history and the window only by this.
func (s Situation) Large() bool {
	overWindow := s.WindowTokens > 0 && s.HistoryTokens*100 > s.WindowTokens*largeWindowPercent
	return s.Noted || overWindow || s.HistoryTokens > largeHistory
}

func (s Situation) conditions() []string {
	holding := []string{signalsAre + cmp.Or(s.Signals, SignalsFull)}
	for name, text := range map[string]string{Instructions: s.Instructions, Preset: s.Preset, Folder: s.Folder} {
		if text != "" {
			holding = append(holding, givenIs+name)
		}
	}
	if s.Signals == SignalsNone && s.LookedUp {
		return append(holding, lookedUp)
	}
	if s.Signals == SignalsNone {
		return holding
	}
	holding = append(holding, always)
	for _, t := range classify.Types() {
		queryType := string(t)
		if s.QueryType == queryType || s.QueryType == AllTypes {
			holding = append(holding, queryTypeIs+queryType)
		}
	}
	if s.Large() {
		holding = append(holding, largeContext)
	}
	if s.HadError {
		holding = append(holding, hadError)
	}
	return holding
}

func holdAll(wanted, holding []string) bool {
	return !slices.ContainsFunc(wanted, func(c string) bool { return !slices.Contains(holding, c) })
}

// nameList lists names in their order, each once.
func nameList(all []string) string {
	names := make([]string, 0, len(all))
	for _, source := range all {
		if name := text.Brief(source, maxName); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
