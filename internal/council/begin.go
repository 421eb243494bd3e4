package council

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
)

// Options are what a person wants of oracles, or of a transcription: that has Session and Again alone.
type Options struct {
	Session string   `json:"session" flag:"-" max:"64" doc:"the id of a session of the Council"`
	Oracles []string `json:"oracles,omitempty" flag:"oracle" names:"oracle" min:"1" max:"12" doc:"who is asked: ids, names, or beginnings of them; several answer side by side over the same context"`
	History *bool    `json:"history,omitempty" doc:"include earlier answers of oracles; as the session is set if nothing is said" no:"include only what was said"`
	Chair   string   `json:"chair,omitempty" names:"oracle" max:"200" doc:"the oracle who merges the answers of several, and says where they agree, differ, and what they overlook"`
	Model   string   `json:"model,omitempty" flag:",m" names:"model" setting:"model" doc:"provider:model"`
	Name    bool     `json:"name,omitempty" flag:"-" doc:"a model is to name the session; nothing is asked"`
	Again   bool     `json:"again,omitempty" flag:"-" doc:"of a transcription: also recordings that have failed"`

	member *membership // of an oracle of a sitting
}

// MostOracles is how many can be asked at once.
const MostOracles = 12

// keptForAnswer is the part of a model's window that is left for its answer, and for what the estimate of tokens is off
// by.
const keptForAnswer = 0.25

// Describe tells how the assistant is begun and shown.
func Describe(a *run.Assistant, d Deps) *assistant.Assistant {
	return &assistant.Assistant{
		Assistant: a, About: "has oracles respond when you think aloud", Tree: Name, Permanent: true, Apart: true,
		Options: schema.Of[Options](),
		Events:  Events(), Reasons: whys(), Show: show, Lines: lines, Early: early, Exchanged: exchanged,
		Offers: wishes().Offers,
		Begin: d.begin(func(o Options) beginner {
			if o.Name {
				return d.beginNaming
			}
			return d.beginAsking
		})}
}

// DescribeTranscription tells of the assistant that has recordings written down.
func DescribeTranscription(of *assistant.Assistant, d Deps) *assistant.Assistant {
	t := under(of, TranscriptionName, "transcribes the recordings of a Council session")
	t.Begin = d.begin(func(Options) beginner { return d.beginTranscription })
	t.Exclusive = true // the one that goes on takes in what was added meanwhile
	return t
}

// under is an assistant of the same leaves and tree under another name.
func under(of *assistant.Assistant, name, about string) *assistant.Assistant {
	other, same := *of, *of.Assistant
	same.Name = name
	other.Assistant, other.About = &same, about
	return &other
}

// DescribeMember tells of the assistant whose runs are those of one oracle in a sitting.
func DescribeMember(of *assistant.Assistant, d Deps) *assistant.Assistant {
	m := under(of, MemberName, "one oracle of a Council sitting")
	m.Companion, m.Options = true, nil
	m.Begin = d.begin(func(Options) beginner { return d.beginMember })
	return m
}

// refused is a request that can't be carried out as it is.
func refused(why bt.Why, hint string, err error) error {
	return &assistant.RequestError{Why: why, Hint: hint, Err: err}
}

// beginner makes the beginning of a run about a session.
type beginner func(ctx context.Context, folder *session.Store, o Options, s session.Session) (run.Spec, error)

func (d Deps) begin(which func(Options) beginner) func(context.Context, assistant.Request) (run.Spec, error) {
	return assistant.BeginWith(func(ctx context.Context, b assistant.Request, o Options) (run.Spec, error) {
		folder, err := d.Sessions(b.Owner)
		if err != nil {
			return run.Spec{}, err
		}
		s, err := folder.Get(ctx, o.Session)
		if err != nil {
			return run.Spec{}, refused(bt.Because("no such Council session"), "‘sibyl council list’ lists them", err)
		}
		spec, err := which(o)(ctx, folder, o, s)
		if err != nil {
			return spec, err
		}
		spec.Session, err = d.JournalSession(ctx, b.Owner, s.ID)
		return spec, err
	})
}

// titled is a title of a run about a session.
func titled(s session.Session, what string) string {
	return text.Brief(what+": "+cmp.Or(s.Name, s.ID), mostTitle)
}

// mostTitle bounds what lists show of a run.
const mostTitle = 72

// asking is what oracles are asked with.
type asking struct {
	oracles []persona.Persona
	chair   persona.Persona
	entries []prompt.Entry
	context prompt.Context
	env     Env
	history bool
}

func (d Deps) beginAsking(ctx context.Context, folder *session.Store, o Options, s session.Session) (run.Spec, error) {
	a, err := d.asking(ctx, folder, o, s)
	if err != nil {
		return run.Spec{}, err
	}
	if a.env.Model == "" {
		return run.Spec{}, a.needsModel(s)
	}
	given := Given{Kind: KindAnswer, Session: s.ID, Snapshot: a.snapshot(), Chaired: o.Chair != "",
		Chair: seatOf(a.chair)}
	var names []string
	for _, one := range a.oracles {
		given.Oracles, names = append(given.Oracles, seatOf(one)), append(names, one.Name)
	}
	spec := run.Spec{Title: titled(s, strings.Join(names, ", "))}
	if len(a.oracles) == 1 {
		spec.Texts, err = texts(a.oracles[0], a.context.Text)
		given.Snapshot.PromptHash = promptHash(spec.Texts)
		spec.Given, spec.Env = given, a.env
		return spec, err
	}
	given.Kind, given.Sitting = KindSitting, run.NewID(d.Now())
	if spec.Texts, err = a.shared(); err != nil {
		return spec, err
	}
	if given.Chaired {
		told, err := d.promptText(textChair)
		if err != nil {
			return spec, err
		}
		spec.Texts = append(spec.Texts, told)
	}
	for _, one := range a.oracles {
		text, err := asText(textOracle+"."+one.ID, one)
		if err != nil {
			return spec, err
		}
		spec.Texts = append(spec.Texts, text)
	}
	spec.Given, spec.Env = given, a.env
	return spec, nil
}

// asking gathers what oracles are asked with, and says what is wrong with the request.
func (d Deps) asking(ctx context.Context, folder *session.Store, o Options, s session.Session) (a asking, err error) {
	said, err := d.said(ctx, folder, s)
	if err != nil {
		return a, err
	}
	spoken := said.language(s)
	if a.oracles, a.chair, err = d.seated(ctx, o, spoken); err != nil {
		return a, err
	}
	id, err := d.model(ctx, o)
	if err != nil {
		return a, err
	}
	a.history = s.Preferences.IncludeLLMHistory
	if o.History != nil {
		a.history = *o.History
	}
	a.env = Env{Model: id, Name: s.Name, Language: spoken, Left: said.left, Doubted: said.doubted}
	a.context = prompt.Assemble(said.heard(), prompt.Options{Language: a.env.Language, History: a.history,
		Budget: d.budget(ctx, id, a.oracles)})
	if a.context.Transcripts == 0 {
		return a, d.nothingSaid(s, said)
	}
	a.env.Cut = cutInWords(a.context)
	for _, e := range said.entries {
		if slices.Contains(a.context.Included, e.ID) {
			a.entries = append(a.entries, e)
		}
	}
	return a, nil
}

// seated are the oracles who are asked, and the chair.
func (d Deps) seated(
	ctx context.Context, o Options, spoken string,
) (oracles []persona.Persona, chair persona.Persona, err error) {
	switch n := len(o.Oracles); {
	case n == 0:
		return nil, chair, refused(noOracle.With(), "‘sibyl council oracles’ lists them", nil)
	case n > MostOracles:
		return nil, chair, refused(manyOracles.With(MostOracles),
			"ask them in several sittings", nil)
	case n < 2 && o.Chair != "":
		return nil, chair, refused(loneChair.With(), "name two or more", nil)
	}
	for _, name := range o.Oracles {
		one, err := d.oracle(ctx, name, spoken)
		if err != nil {
			return nil, chair, refused(unknownOracle.With(),
				"‘sibyl council oracles’ lists them", err)
		}
		if slices.ContainsFunc(oracles, func(p persona.Persona) bool { return p.ID == one.ID }) {
			return nil, chair, refused(bt.Because("an oracle is named twice"), "name each once", fmt.Errorf("%s is named twice",
				one.Name))
		}
		if slices.ContainsFunc(oracles, func(p persona.Persona) bool { return strings.EqualFold(p.Name, one.Name) }) {
			return nil, chair, refused(sameNames.With(),
				"give one of them another title: names show who says what",
				fmt.Errorf("two of the oracles are called %s: give one of the files another title, since names show "+
					"who says what", one.Name))
		}
		oracles = append(oracles, one)
	}
	if o.Chair != "" {
		if chair, err = d.oracle(ctx, o.Chair, spoken); err != nil {
			return nil, chair, refused(unknownOracle.With(),
				"‘sibyl council oracles’ lists them", err)
		}
	}
	return oracles, chair, nil
}

// oracle finds an oracle by what somebody typed. Where several are meant, one in the language of the session is.
func (d Deps) oracle(ctx context.Context, name, spoken string) (persona.Persona, error) {
	found, err := d.Oracles.Find(ctx, name)
	var many *persona.FindError
	if !errors.As(err, &many) || !errors.Is(err, persona.ErrAmbiguous) {
		return found, err
	}
	same := slices.DeleteFunc(slices.Clone(many.Candidates), func(p persona.Persona) bool {
		return p.Language != spoken
	})
	if len(same) == 1 {
		return same[0], nil
	}
	return found, err
}

// few is how many oracles are asked where nobody is named.
const few = 3

// Few are oracles who speak the language of a text, by their ids, for somebody who names none: some that are far apart
// in the list.
func (d Deps) Few(ctx context.Context, words string) (ids []string, err error) {
	list, err := d.Oracles.List(ctx)
	if err != nil {
		return nil, err
	}
	all := list.Oracles
	spoken := cmp.Or(language.Of(words), "en")
	if same := slices.DeleteFunc(slices.Clone(all), func(p persona.Persona) bool {
		return p.Language != spoken
	}); len(same) > 0 {
		all = same
	}
	for n := range min(few, len(all)) {
		ids = append(ids, all[n*(len(all)-1)/max(1, min(few, len(all))-1)].ID)
	}
	return ids, nil
}

// model is the one that is asked; "" where there is none. What answers by rules is no oracle.
func (d Deps) model(ctx context.Context, o Options) (id string, err error) {
	id, err = d.Choose(ctx, o.Model)
	if err != nil {
		return "", refused(assistant.NoModel.With(), "leave it out to use the configured one", err)
	}
	if id == model.OfflineRules {
		return "", nil
	}
	return id, nil
}

// needsModel says that oracles need a model, with two ways on.
func (a *asking) needsModel(s session.Session) error {
	var names []string
	for _, one := range a.oracles {
		names = append(names, one.Slug)
	}
	return refused(needModel.With(),
		"whoever runs the server can set one up; the preview shows the prompts that would be sent",
		fmt.Errorf("%s: ‘sibyl init’ sets one up; ‘sibyl council ask %s --session %s --dry-run’ prints the prompt, "+
			"for use elsewhere", needModel.Template(), strings.Join(names, " "), s.ID))
}

// promptText is what a model is told of a matter.
func (d Deps) promptText(name string) (run.Text, error) {
	content, err := fs.ReadFile(d.Prompts, name+".md")
	if err != nil {
		return run.Text{}, fmt.Errorf("the prompts of the Council: %w", err)
	}
	return run.Text{Name: name, Content: content}, nil
}

// budget is how many tokens a context may have: what the longest oracle and the answer leave of the model's window. 0:
// any number.
func (d Deps) budget(ctx context.Context, id string, oracles []persona.Persona) int {
	window := 0
	if id != "" {
		window = d.Describe(ctx, id).Window
	}
	if window <= 0 {
		return 0
	}
	longest := 0
	for _, one := range oracles {
		longest = max(longest, agent.Tokens(one.Content))
	}
	return max(roomIn(window)-longest, 1)
}

// roomIn is how many tokens a request may have in a model's window; 0 is a window that is not known.
func roomIn(window int) int {
	if window <= 0 {
		return math.MaxInt32
	}
	return int(float64(window) * (1 - keptForAnswer))
}

// nothingSaid says why there is nothing to ask about.
func (d Deps) nothingSaid(s session.Session, said saidSoFar) error {
	switch {
	case said.waiting > 0:
		how := fmt.Sprintf("‘sibyl council transcribe %s’", s.ID)
		if why := d.Missing(); why != "" {
			how = why
		}
		return refused(notWrittenDown.With(), "transcribe its recordings first",
			fmt.Errorf("nothing in this session is transcribed yet, and %s: %s", waits(said.waiting), how))
	case said.failed > 0:
		return refused(noneWrittenDown.With(), "have its recordings transcribed again",
			fmt.Errorf("nothing in this session could be transcribed: ‘sibyl council transcribe --again %s’ tries %s again",
				s.ID, text.Count(said.failed, "recording")))
	case len(said.left) > 0:
		return refused(noneReadable.With(), "repair it",
			fmt.Errorf("nothing in this session can be read (%s): ‘sibyl council repair %s’ recovers what it can",
				strings.Join(said.left, "; "), s.ID))
	}
	return refused(nothingToAsk.With(), "say something first, or add a recording",
		fmt.Errorf("nothing was said in this session yet: ‘sibyl council say --session %s \"…\"’, or ‘sibyl council "+
			"add --session %s FILE’", s.ID, s.ID))
}

// waits says how many recordings wait.
func waits(n int) string {
	if n == 1 {
		return "1 recording waits"
	}
	return fmt.Sprintf("%d recordings wait", n)
}

// beginMember begins the run of one oracle of a sitting.
func (d Deps) beginMember(_ context.Context, _ *session.Store, o Options, s session.Session) (run.Spec, error) {
	m := o.member
	if m == nil {
		return run.Spec{}, errors.New("an oracle of a sitting is asked by that sitting alone")
	}
	spec := run.Spec{Title: titled(s, m.oracle.Name), Env: Env{Model: o.Model, Name: s.Name, Language: m.language,
		Sitting: m.sitting}}
	var err error
	if spec.Texts, err = texts(m.oracle, m.context); err != nil {
		return spec, err
	}
	snapshot := m.snapshot
	snapshot.PromptHash = promptHash(spec.Texts)
	spec.Given = Given{Kind: KindAnswer, Session: s.ID, Oracles: []Seat{seatOf(m.oracle)}, Snapshot: snapshot}
	return spec, nil
}

func (d Deps) beginTranscription(_ context.Context, _ *session.Store, o Options, s session.Session) (run.Spec, error) {
	if why := d.Missing(); why != "" {
		return run.Spec{}, refused(noTranscription.With(),
			"the recordings are kept; set up transcription in the server's settings", errors.New(why))
	}
	spec := run.Spec{Title: titled(s, "transcribing")}
	spec.Claims = []string{claim(s.ID)}
	spec.Given, spec.Env = Given{Kind: KindTranscription, Session: s.ID, Again: o.Again},
		Env{Name: s.Name, Language: s.Language}
	return spec, nil
}

// claim is what one transcription of a session holds at a time.
func claim(session string) string { return "transcription " + session }

func (d Deps) beginNaming(ctx context.Context, folder *session.Store, o Options, s session.Session) (run.Spec, error) {
	if s.NamedBy == session.ByPerson {
		return run.Spec{}, refused(namedByHand.With(), "rename it by hand", nil)
	}
	id, err := d.model(ctx, o)
	if err != nil {
		return run.Spec{}, err
	}
	if id == "" {
		return run.Spec{}, refused(namingNeedsModel.With(),
			"without one, sessions are named by their first words, or by you", nil)
	}
	said, err := d.said(ctx, folder, s)
	if err != nil {
		return run.Spec{}, err
	}
	env := Env{Model: id, Name: s.Name, Language: said.language(s)}
	c := prompt.Assemble(said.entries, prompt.Options{Language: env.Language, Budget: namingTokens})
	if c.Transcripts == 0 {
		return run.Spec{}, d.nothingSaid(s, said)
	}
	told, err := d.promptText(textName)
	if err != nil {
		return run.Spec{}, err
	}
	spec := run.Spec{Title: titled(s, "a name")}
	spec.Texts = []run.Text{{Name: textContext, Content: []byte(c.Text)}, told}
	spec.Given, spec.Env = Given{Kind: KindNaming, Session: s.ID}, env
	return spec, nil
}

// namingTokens bounds what a model reads to name a session.
const namingTokens = 4000

func lines(_ *run.StartRecord, event bt.Typed) []string {
	if heard, ok := event.(OracleHeard); ok && heard.Failed == "" {
		return nil // told when the answer came
	}
	if e, ok := event.(interface{ String() string }); ok {
		return []string{e.String()}
	}
	return nil
}
