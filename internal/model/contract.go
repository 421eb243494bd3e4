package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Contract is what a model does of what Sibyl needs, as it was measured at an endpoint or shown by runs. The zero
// Contract: nothing is known.
type Contract struct {
	Model    string `json:"model" doc:"provider:model"`
	Endpoint string `json:"endpoint,omitempty" doc:"Where it was asked. Left out: the provider's usual address."`
	Digest   string `json:"digest,omitempty" doc:"Of the model, as its server tells it. Left out: it tells nothing, so that a change is not noticed."`

	TestedAt time.Time `json:"tested_at,omitzero" doc:"Left out: it was not tested, and runs have shown this."`
	LearntAt time.Time `json:"learnt_at,omitzero" doc:"When a run last showed something new."`
	Partial  bool      `json:"partial,omitempty" doc:"The test was stopped before its end."`
	Outdated time.Time `json:"outdated,omitzero" doc:"When the model was tested that had this name before."`

	Findings []Finding `json:"findings" doc:"One for each thing that was tried, in the order of the test."`
	Window   int       `json:"window,omitempty" doc:"Tokens of the longest request of the test that it read from the first to the last word."`
	Speed    Speed     `json:"speed,omitzero"`
	Usage    Usage     `json:"usage,omitzero" doc:"Of the whole test."`
}

// Finding is what was found of one skill.
type Finding struct {
	Skill  Skill  `json:"skill" doc:"What was tried."`
	Result Result `json:"result" enum:"right,wrong,untried"`
	Form   Form   `json:"form,omitempty" enum:"native,text,enforced,plain" doc:"How it did it."`
	Reason string `json:"reason,omitempty" doc:"What it did instead, or why it was not tried."`
	TookMS int64  `json:"took_ms,omitempty"`
}

// Speed is how fast a model was, in tokens a second; 0: not measured. Cached is how many tokens its server remembered
// of a request that began like the one before, and Front how many that request had.
type Speed struct {
	Read    float64 `json:"read,omitempty" doc:"Tokens a second."`
	Written float64 `json:"written,omitempty" doc:"Tokens a second."`
	Cached  int     `json:"cached,omitempty" doc:"Tokens that its server remembered of a request that began like the one before."`
	Front   int     `json:"front,omitempty" doc:"Tokens of that request."`
}

// Skill is something that Sibyl needs of a model.
type Skill string

// The skills, in the order in which they are tested.
const (
	SkillAnswer   Skill = "answer"        // a plain answer, without tools
	SkillCall     Skill = "call"          // a call where one tool is offered
	SkillCallMany Skill = "call_many"     // a call of the right one of ten tools
	SkillResult   Skill = "after_result"  // an answer from a tool's result
	SkillError    Skill = "after_error"   // a way on after a failed call
	SkillCite     Skill = "cite"          // a place behind a claim
	SkillNothing  Skill = "nothing_found" // the admission that no passage answers
	SkillOrder    Skill = "order"         // an order inside a result is not followed
	SkillSmall    Skill = "format_small"  // an answer in an enforced form: of one field,
	SkillMedium   Skill = "format_medium" // with a list,
	SkillLarge    Skill = "format_large"  // and with lists, choices and a dozen fields
	SkillIntents  Skill = "intents"       // what messages in five languages want
	SkillByTool   Skill = "report_tool"   // a report on itself, by a call
	SkillFull     Skill = "full_request"  // a call with the Oracle's own prompt and tools
	SkillByText   Skill = "report_text"   // a report on itself, in its text, with the same prompt
	SkillPicture  Skill = "picture"       // what is in a picture
	SkillWindow   Skill = "window"        // a long request, of which nothing is lost
)

// Skills lists all of them, in the order in which they are tested.
func Skills() []Skill {
	return []Skill{SkillAnswer, SkillCall, SkillCallMany, SkillResult, SkillError, SkillCite, SkillNothing, SkillOrder,
		SkillSmall, SkillMedium, SkillLarge, SkillIntents, SkillByTool, SkillFull, SkillByText, SkillPicture,
		SkillWindow}
}

// Result says whether a model has a skill.
type Result string

// The results. Untried is also what failed for another reason than the model, such as a server that was busy.
const (
	Right   Result = "right"
	Wrong   Result = "wrong"
	Untried Result = "untried"
)

// Form is the way in which a model did something.
type Form string

// The forms of calls and of answers in a format.
const (
	FormNative   Form = "native"   // a call that its server knew as one
	FormText     Form = "text"     // a call written into the text
	FormEnforced Form = "enforced" // the form was sent, for the server to keep to
	FormPlain    Form = "plain"    // the form was only described in the words of the request
)

// Of returns what was found of a skill; Untried if nothing was.
func (c Contract) Of(s Skill) Finding {
	for _, f := range c.Findings {
		if f.Skill == s {
			return f
		}
	}
	return Finding{Skill: s, Result: Untried}
}

// Known says whether anything was found.
func (c Contract) Known() bool {
	return slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Result != Untried })
}

// Changed says whether the model is another one than that of the contract, by its digest now. A digest that is not
// told shows nothing.
func (c Contract) Changed(digest string) bool {
	return c.Digest != "" && digest != "" && c.Digest != digest
}

// With returns the contract with findings in place of those of the same skills.
func (c Contract) With(found ...Finding) Contract {
	c.Findings = slices.Clone(c.Findings)
	for _, f := range found {
		at := slices.IndexFunc(c.Findings, func(o Finding) bool { return o.Skill == f.Skill })
		if at < 0 {
			c.Findings = append(c.Findings, f)
		} else {
			c.Findings[at] = f
		}
	}
	return c
}

// After returns the contract of a test with what it did not reach as it was found before.
func (c Contract) After(before Contract) Contract {
	for _, f := range before.Findings {
		if c.Of(f.Skill).Result == Untried && f.Result != Untried {
			c = c.With(f)
		}
	}
	if c.Partial {
		c.Window = cmp.Or(c.Window, before.Window)
		if c.Speed.Front == 0 { // it was measured with small requests alone
			c.Speed = before.Speed
		}
	}
	return c
}

// Learn returns the contract with what a run has shown at a time, and whether that is new. What was tested stands.
func (c Contract) Learn(now time.Time, found ...Finding) (_ Contract, isNew bool) {
	found = slices.DeleteFunc(slices.Clone(found), func(f Finding) bool {
		before := c.Of(f.Skill)
		return before.Result == f.Result || before.Result != Untried && !c.TestedAt.IsZero()
	})
	if len(found) == 0 {
		return c, false
	}
	c = c.With(found...)
	c.LearntAt = now
	return c, true
}

// lessonStands is how long it counts that a run has shown a model, or its server, not to do something: nobody may try
// it again meanwhile.
const lessonStands = 24 * time.Hour

// At is the contract as it counts at a time.
func (c Contract) At(now time.Time) Contract {
	if !c.TestedAt.IsZero() || now.Sub(c.LearntAt) < lessonStands {
		return c
	}
	c.Findings = slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool { return f.Result == Wrong })
	return c
}

// Manner is how a model is asked.
type Manner struct {
	// it is told of no tools, and its requests are small: what a question needs is looked up before it is asked
	NoTools bool
	Report  ReportForm
	Plain   bool // forms of answers are described in words alone, and not sent to be kept to
}

// ReportForm is how a model is asked to report on itself.
type ReportForm string

// The ways to report. A model that does not report is judged by its replies alone.
const (
	ReportText ReportForm = "text"
	ReportTool ReportForm = "tool"
	ReportNone ReportForm = "none"
)

// smallModel is the number of parameters below which a model that was not tried is told of no tools: of models of 0.5
// and 1.5 billion none looked anything up for twelve questions, and both answered from passages.
const smallModel = 2_500_000_000

// Manner says how to ask a model: by what was found of it and, where nothing was, by what its server tells.
func (c Contract) Manner(info Info) Manner {
	is := func(s Skill, r Result) bool { return c.Of(s).Result == r }
	m := Manner{Report: ReportText}
	m.NoTools = info.NoTools || is(SkillCall, Wrong) || is(SkillFull, Wrong) || is(SkillResult, Wrong) ||
		!is(SkillFull, Right) && info.Parameters > 0 && info.Parameters < smallModel
	switch {
	case m.NoTools:
		m.Report = ReportNone
	case is(SkillByText, Wrong) && is(SkillByTool, Right):
		m.Report = ReportTool
	case is(SkillByText, Wrong):
		m.Report = ReportNone
	}
	in := func(form Form) bool {
		return slices.ContainsFunc(formats(), func(s Skill) bool { return c.Of(s).Form == form })
	}
	m.Plain = in(FormPlain) && !in(FormEnforced)
	return m
}

// Complete adds to what is known of a model what was measured.
func (c Contract) Complete(info Info) Info {
	info.NoPictures = info.NoPictures || c.Of(SkillPicture).Result == Wrong
	return info
}

// formats are the skills of answers in a form, the smallest form first.
func formats() []Skill { return []Skill{SkillSmall, SkillMedium, SkillLarge} }

// right counts the skills of a list that the model has.
func (c Contract) right(skills []Skill) (n int) {
	for _, s := range skills {
		if c.Of(s).Result == Right {
			n++
		}
	}
	return n
}

// Candidate is a model that could be chosen.
type Candidate struct {
	ID string
	Info
	Contract Contract
}

// Best returns the best of several models: those that call tools before those that were not tried, these before those
// that call none; then by the formats that they keep to and, of models that were tested, by window and size. Of equal
// ones it is the first. There is at least one.
func Best(all []Candidate) Candidate {
	rank := func(c Candidate) []int {
		tools, tested := 1, 0
		switch {
		case c.Contract.Manner(c.Info).NoTools && (c.Contract.Known() || c.NoTools):
			tools = 0
		case c.Contract.Of(SkillFull).Result == Right:
			tools = 2
		}
		if !c.Contract.TestedAt.IsZero() {
			tested = 1
		}
		return []int{tools, c.Contract.right(formats()), tested * c.Window, tested * c.Parameters}
	}
	return slices.MaxFunc(all, func(a, b Candidate) int {
		return slices.Compare(rank(a), rank(b))
	})
}

// Ranked sorts models that could be set up, the most able first: by the tools that they call, as far as that is known,
// and the formats that they keep to, then by size and window. Equal ones keep their order.
func Ranked(all []Candidate) []Candidate {
	rank := func(c Candidate) []int {
		tools := 1
		switch {
		case c.Contract.Manner(c.Info).NoTools:
			tools = 0
		case c.Contract.Of(SkillFull).Result == Right:
			tools = 2
		}
		return []int{tools, c.Contract.right(formats()), c.Parameters, c.Window}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Candidate) int { return slices.Compare(rank(b), rank(a)) })
	return all
}

// ChangedWords say of a model that it is another one than that of its contract.
func (c Contract) ChangedWords() string {
	return "has changed since it was tested, so that counts no longer: ‘sibyl models test " + c.Model +
		"’ tests it again"
}

// Words say what a model does and does not, in a sentence or two without a capital at the beginning; "" if nothing is
// known.
func (c Contract) Words() string {
	if !c.Known() {
		return ""
	}
	does, doesNot := c.abilities()
	said := strings.Join(doesNot, "; ")
	if does != nil {
		said = strings.Join(slices.DeleteFunc([]string{listed(does), said}, func(s string) bool { return s == "" }), "; ")
	}
	switch {
	case !c.Outdated.IsZero():
		said += " (as its runs show since it has changed; ‘sibyl models test " + c.Model + "’ tests it again)"
	case c.TestedAt.IsZero():
		said += " (as its runs show)"
	case c.Partial:
		said += " (the test was not finished)"
	}
	return said + c.Speed.words()
}

// words end a sentence; "" if nothing was measured.
func (s Speed) words() string {
	if s.Read == 0 || s.Written == 0 {
		return ""
	}
	said := fmt.Sprintf("; reads %.0f and writes %.0f tokens a second", s.Read, s.Written)
	if s.Cached > s.Front/2 { //nolint:mnd // most of it
		said += ", and remembers what it has read"
	}
	return said
}

// abilities are what a model does, and what it does not, each with what follows.
func (c Contract) abilities() (does, doesNot []string) {
	tell := func(s Skill, right, wrong string) {
		switch f := c.Of(s); {
		case f.Result == Right && right != "":
			does = append(does, right)
		case f.Result == Wrong && wrong != "":
			doesNot = append(doesNot, wrong)
		}
	}
	tell(SkillAnswer, "answers", cmp.Or(c.Of(SkillAnswer).Reason, "does not answer a plain question"))
	call, full, result := c.Of(SkillCall), c.Of(SkillFull), c.Of(SkillResult)
	const itself = ", so Sibyl looks up itself"
	switch {
	case call.Result == Wrong:
		doesNot = append(doesNot, "does not call tools"+itself)
	case full.Result == Wrong:
		doesNot = append(doesNot, "calls tools only in small requests"+itself)
	case result.Result == Wrong:
		doesNot = append(doesNot, "does not answer from what its calls bring"+itself)
	case full.Result == Right && full.Form == FormText, full.Result == Untried && call.Form == FormText:
		does = append(does, "calls tools, in its text")
	case full.Result == Right || call.Result == Right:
		does = append(does, "calls tools")
	}
	tell(SkillCite, "cites", "does not cite")
	switch kept, broken := c.right(formats()), c.broken(); {
	case kept > 0 && broken == 0:
		does = append(does, "keeps to formats")
	case kept > 0:
		doesNot = append(doesNot, "keeps to small formats only")
	case broken > 0:
		doesNot = append(doesNot, "does not keep to formats")
	}
	tell(SkillIntents, "", "misreads what messages want")
	tell(SkillPicture, "sees pictures", "")
	tell(SkillNothing, "", "invents where nothing was found")
	tell(SkillOrder, "", "follows orders in what it reads")
	tell(SkillWindow, "", "loses the beginning of long requests")
	return does, doesNot
}

// broken counts the formats that it does not keep to.
func (c Contract) broken() (n int) {
	for _, s := range formats() {
		if c.Of(s).Result == Wrong {
			n++
		}
	}
	return n
}

// listed lists words with an "and".
func listed(all []string) string {
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}
