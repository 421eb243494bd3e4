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
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
)

// Options are the options of a run of oracles, or of a transcription, which has only Session and Again.
type Options struct {
	Session string   `json:"session" flag:"-" max:"64" doc:"the id of a session of the Council"`
	Oracles []string `json:"oracles,omitempty" flag:"oracle" names:"oracle" min:"1" max:"12" doc:"who is asked: ids, names, or beginnings of them; several answer side by side over the same context"`
	History *bool    `json:"history,omitempty" doc:"include earlier answers of oracles; as the session is set if nothing is said" no:"include only what was said"`
	Chair   string   `json:"chair,omitempty" names:"oracle" max:"200" doc:"the oracle who merges the answers of several, and says where they agree, differ, and what they overlook"`
	Model   string   `json:"model,omitempty" flag:",m" names:"model" setting:"model" doc:"the model, by its name or as provider:model"`
	Name    bool     `json:"name,omitempty" flag:"-" doc:"a model is to name the session; nothing is asked"`
	Merge   string   `json:"merge,omitempty" flag:"-" max:"64" doc:"the run of a sitting whose answers the chair merges once more; who has answered is not asked again"`
	Again   bool     `json:"again,omitempty" flag:"-" doc:"of a transcription: also recordings that have failed"`

	member *memberStart // of an oracle of a sitting
}

// MostOracles is the maximum number of oracles asked at once.
const MostOracles = 12

// answerShare is the part of a model's window that is left for the answer, and for errors of the estimate.
const answerShare = 0.25

// Describe describes the assistant of the Council.
func Describe(a *run.Assistant, d Deps) *assistant.Assistant {
	return &assistant.Assistant{
		Assistant: a, About: "has oracles respond when you think aloud", Tree: Name, Permanent: true, StoresSessions: true,
		Options: schema.Of[Options](),
		Events:  Events(), Reasons: whys(), Show: shownOutcome, Early: earlyAnswer, ShowEffect: showEffect,
		Offers: wishes().Offers, Setup: d.setup,
		Begin: d.specFrom(func(b assistant.Request, o Options) specMaker {
			switch {
			case o.Name:
				return d.namingSpec
			case o.Merge != "":
				return d.mergingSpec(b)
			}
			return d.keepingModel(b)
		})}
}

// keepingModel is askingSpec with the model that was asked for in the session before, where the request names none.
func (d Deps) keepingModel(b assistant.Request) specMaker {
	return func(ctx context.Context, folder *session.Store, o Options, s session.Session) (run.Spec, error) {
		asked, err := d.keepModel(ctx, b, &o, s)
		if err != nil {
			return run.Spec{}, err
		}
		spec, err := d.askingSpec(ctx, folder, o, s)
		if err == nil {
			env := spec.Env.(Env)
			env.Asked = asked
			spec.Env = env
		}
		return spec, err
	}
}

// keepModel sets the model of a request that names none, and returns the one that is chosen in the session.
func (d Deps) keepModel(ctx context.Context, b assistant.Request, o *Options, s session.Session) (string, error) {
	runs, err := d.JournalSession(ctx, b.Owner, s.ID)
	if err != nil {
		return "", err
	}
	before, begins, err := d.askedModel(ctx, b.Owner, runs)
	return b.KeepModel("model", &o.Model, begins, before), err
}

// askedModel is the model that was chosen when oracles last answered in a session of the journal; "": none was. begins:
// none has answered yet.
func (d Deps) askedModel(ctx context.Context, owner journal.Owner, runs string) (id string, begins bool, err error) {
	const others = 5 // runs that give a name
	last, err := d.Store.Runs(ctx, owner, journal.Filter{Session: runs, Assistant: Name, Limit: others})
	for _, r := range last {
		var env Env
		var given Given
		if err := run.ReadStart(ctx, d.Store, owner, r.ID, &env, &given); err != nil {
			return "", false, err
		}
		if given.Kind != KindNaming {
			return env.Asked, false, nil
		}
	}
	return "", true, err
}

// AskedModel is the model that was chosen in a session; "": none was.
func (d Deps) AskedModel(ctx context.Context, owner journal.Owner, id string) (string, error) {
	runs, err := d.JournalSession(ctx, owner, id)
	if err != nil {
		return "", err
	}
	asked, _, err := d.askedModel(ctx, owner, runs)
	return asked, err
}

// setup tells which model was chosen in a session.
func (d Deps) setup(ctx context.Context, owner journal.Owner, runs, _ string) (told assistant.Setup, err error) {
	told.Model, _, err = d.askedModel(ctx, owner, runs)
	return told, err
}

// DescribeTranscription describes the assistant that transcribes recordings.
func DescribeTranscription(of *assistant.Assistant, d Deps) *assistant.Assistant {
	t := withName(of, TranscriptionName, "transcribes the recordings of a Council session")
	t.Begin = d.specFrom(func(assistant.Request, Options) specMaker { return d.transcriptionSpec })
	t.Exclusive = true // the running one also takes recordings that are added meanwhile
	return t
}

// withName copies an assistant, with the same leaves and tree, under another name.
func withName(of *assistant.Assistant, name, about string) *assistant.Assistant {
	other, same := *of, *of.Assistant
	same.Name = name
	other.Assistant, other.About = &same, about
	return &other
}

// DescribeMember describes the assistant whose runs are the members of a sitting.
func DescribeMember(of *assistant.Assistant, d Deps) *assistant.Assistant {
	m := withName(of, MemberName, "one oracle of a Council sitting")
	m.Companion, m.Options = true, nil
	m.Begin = d.specFrom(func(assistant.Request, Options) specMaker { return d.memberSpec })
	return m
}

// refuse is the error for a request that can't be carried out.
func refuse(why bt.Why, hint string, err error) error {
	return &assistant.RequestError{Why: why, Hint: hint, Err: err}
}

// specMaker makes the spec of a run about a session.
type specMaker func(ctx context.Context, folder *session.Store, o Options, s session.Session) (run.Spec, error)

// specFrom makes the Begin of an assistant: it finds the session, and has the chosen specMaker make the spec.
func (d Deps) specFrom(
	choose func(assistant.Request, Options) specMaker,
) func(context.Context, assistant.Request) (run.Spec, error) {
	return assistant.BeginWith(func(ctx context.Context, b assistant.Request, o Options) (run.Spec, error) {
		folder, err := d.Sessions(b.Owner)
		if err != nil {
			return run.Spec{}, err
		}
		s, err := folder.Get(ctx, o.Session)
		if err != nil {
			return run.Spec{}, refuse(bt.Because("no such Council session"), "‘sibyl council list’ lists them", err)
		}
		spec, err := choose(b, o)(ctx, folder, o, s)
		if err != nil {
			return spec, err
		}
		spec.Session, err = d.JournalSession(ctx, b.Owner, s.ID)
		return spec, err
	})
}

func runTitle(s session.Session, what string) string {
	return text.Brief(what+": "+cmp.Or(s.Name, s.ID), journal.MostTitle)
}

// gathered has everything from which a run of oracles is made.
type gathered struct {
	oracles []persona.Persona
	chair   persona.Persona
	entries run.Text // of the context
	context prompt.Context
	env     Env
	history bool
}

// askingSpec makes the spec of an answer or, with several oracles, of a sitting.
func (d Deps) askingSpec(ctx context.Context, folder *session.Store, o Options, s session.Session) (run.Spec, error) {
	a, err := d.gather(ctx, folder, o, s)
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
	spec := run.Spec{Title: runTitle(s, strings.Join(names, ", "))}
	if len(a.oracles) == 1 {
		spec.Texts, err = oracleTexts(a.oracles[0], a.context.Text, a.entries)
		given.Snapshot.PromptHash = promptHash(spec.Texts)
		spec.Given, spec.Env = given, a.env
		return spec, err
	}
	given.Kind, given.Sitting = KindSitting, run.NewID(d.Now())
	spec.Texts = []run.Text{a.entries, {Name: textContext, Content: []byte(a.context.Text)}}
	if given.Chaired {
		if spec.Texts, err = d.addChairTexts(spec.Texts); err != nil {
			return spec, err
		}
	}
	for _, one := range a.oracles {
		kept, err := jsonText(textOracle+"."+one.ID, one)
		if err != nil {
			return spec, err
		}
		spec.Texts = append(spec.Texts, kept)
	}
	spec.Given, spec.Env = given, a.env
	return spec, nil
}

// addChairTexts adds the prompts of a chair.
func (d Deps) addChairTexts(texts []run.Text) ([]run.Text, error) {
	for _, name := range []string{textChair, textBriefly} {
		prompt, err := d.promptText(name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, prompt)
	}
	return texts, nil
}

// gather finds oracles, model and context, and refuses requests that can't be carried out.
func (d Deps) gather(ctx context.Context, folder *session.Store, o Options, s session.Session) (a gathered, err error) {
	said, err := d.readContent(ctx, folder, s)
	if err != nil {
		return a, err
	}
	spoken := said.language(s)
	if a.oracles, a.chair, err = d.chooseOracles(ctx, o, spoken); err != nil {
		return a, err
	}
	id, err := d.chooseModel(ctx, o)
	if err != nil {
		return a, err
	}
	a.history = s.Preferences.IncludeLLMHistory
	if o.History != nil {
		a.history = *o.History
	}
	a.env = Env{Model: id, Name: s.Name, Language: spoken, Left: said.left, Doubted: said.doubted}
	a.context = prompt.Assemble(said.entriesWithWords(), prompt.Options{Language: a.env.Language, History: a.history,
		Budget: d.contextTokens(ctx, id, a.oracles)})
	if a.context.Transcripts == 0 {
		return a, d.whyNothingToAsk(s, said)
	}
	a.env.Cut = cutInWords(a.snapshot())
	a.entries, err = entriesIn(a.context, said.entries)
	return a, err
}

// chooseOracles finds the oracles and the chair that the options name.
func (d Deps) chooseOracles(
	ctx context.Context, o Options, spoken string,
) (oracles []persona.Persona, chair persona.Persona, err error) {
	switch n := len(o.Oracles); {
	case n == 0:
		return nil, chair, refuse(noOracle.With(), "‘sibyl council oracles’ lists them", nil)
	case n > MostOracles:
		return nil, chair, refuse(manyOracles.With(MostOracles),
			"ask them in several sittings", nil)
	case n < 2 && o.Chair != "":
		return nil, chair, refuse(loneChair.With(), "name two or more", nil)
	}
	for _, name := range o.Oracles {
		one, err := d.findOracle(ctx, name, spoken)
		if err != nil {
			return nil, chair, refuse(unknownOracle.With(),
				"‘sibyl council oracles’ lists them", err)
		}
		if slices.ContainsFunc(oracles, func(p persona.Persona) bool { return p.ID == one.ID }) {
			return nil, chair, refuse(bt.Because("an oracle is named twice"), "name each once", fmt.Errorf("%s is named twice",
				one.Name))
		}
		if slices.ContainsFunc(oracles, func(p persona.Persona) bool { return strings.EqualFold(p.Name, one.Name) }) {
			return nil, chair, refuse(sameNames.With(),
				"give one of them another title: names show who says what",
				fmt.Errorf("two of the oracles are called %s: give one of the files another title, since names show "+
					"who says what", one.Name))
		}
		oracles = append(oracles, one)
	}
	if o.Chair != "" {
		if chair, err = d.findOracle(ctx, o.Chair, spoken); err != nil {
			return nil, chair, refuse(unknownOracle.With(),
				"‘sibyl council oracles’ lists them", err)
		}
	}
	return oracles, chair, nil
}

// findOracle finds an oracle by typed text. If several match, it takes the only one in the session's language.
func (d Deps) findOracle(ctx context.Context, name, spoken string) (persona.Persona, error) {
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

// english is the language of oracles where no other has any.
const english = "en"

// fewOracles is how many oracles are asked if none is named.
const fewOracles = 3

// Few gives the ids of up to fewOracles oracles for a user who names none, spread over the list: those in the language
// of words or, where there are none or the words don't tell, those in English, or else all.
func (d Deps) Few(ctx context.Context, words string) (ids []string, err error) {
	list, err := d.Oracles.List(ctx)
	if err != nil {
		return nil, err
	}
	all := list.Oracles
	for _, spoken := range []string{language.Of(words), english} {
		same := slices.DeleteFunc(slices.Clone(all), func(p persona.Persona) bool { return p.Language != spoken })
		if spoken != "" && len(same) > 0 {
			all = same
			break
		}
	}
	for n := range min(fewOracles, len(all)) {
		ids = append(ids, all[n*(len(all)-1)/max(1, min(fewOracles, len(all))-1)].ID)
	}
	return ids, nil
}

// chooseModel is the id of the model to ask; "" if there is none. The offline rules can't be an oracle.
func (d Deps) chooseModel(ctx context.Context, o Options) (id string, err error) {
	id, err = d.Choose(ctx, o.Model)
	if err != nil {
		return "", assistant.ModelError(err)
	}
	if id == model.OfflineRules {
		return "", nil
	}
	return id, nil
}

// needsModel is the error that oracles need a model. It names two ways to continue.
func (a *gathered) needsModel(s session.Session) error {
	var names []string
	for _, one := range a.oracles {
		names = append(names, one.Slug)
	}
	return refuse(needModel.With(),
		"whoever runs the server can set one up; the preview shows the prompts that would be sent",
		fmt.Errorf("%s: ‘sibyl init’ sets one up; ‘sibyl council ask %s --session %s --dry-run’ prints the prompt, "+
			"for use elsewhere", needModel.Template(), strings.Join(names, " "), s.ID))
}

// promptText reads a prompt file, as a text for a run.
func (d Deps) promptText(name string) (run.Text, error) {
	content, err := fs.ReadFile(d.Prompts, name+".md")
	if err != nil {
		return run.Text{}, fmt.Errorf("the prompts of the Council: %w", err)
	}
	return run.Text{Name: name, Content: content}, nil
}

// contextTokens is how many tokens a context may have: what the longest oracle and the answer leave of the window.
// 0: any number.
func (d Deps) contextTokens(ctx context.Context, id string, oracles []persona.Persona) int {
	window := 0
	if id != "" {
		window = d.Known(ctx, id).Window
	}
	if window <= 0 {
		return 0
	}
	longest := 0
	for _, one := range oracles {
		longest = max(longest, agent.Tokens(one.Content))
	}
	return max(requestTokens(window)-longest, 1)
}

// requestTokens is how many tokens a request may have in a window; 0 is an unknown window, which allows any number.
func requestTokens(window int) int {
	if window <= 0 {
		return math.MaxInt32
	}
	return int(float64(window) * (1 - answerShare))
}

// whyNothingToAsk is the error of a session that has nothing to ask about yet.
func (d Deps) whyNothingToAsk(s session.Session, said sessionContent) error {
	switch {
	case said.waiting > 0:
		how := fmt.Sprintf("‘sibyl council transcribe %s’", s.ID)
		if why := d.Missing(); why != "" {
			how = why
		}
		return refuse(notWrittenDown.With(), "transcribe its recordings first",
			fmt.Errorf("nothing in this session is transcribed yet, and %s: %s", recordingsWait(said.waiting), how))
	case said.failed > 0:
		return refuse(noneWrittenDown.With(), "have its recordings transcribed again",
			fmt.Errorf("nothing in this session could be transcribed: ‘sibyl council transcribe --again %s’ tries %s again",
				s.ID, text.Count(said.failed, "recording")))
	case len(said.left) > 0:
		return refuse(noneReadable.With(), "repair it",
			fmt.Errorf("nothing in this session can be read (%s): ‘sibyl council repair %s’ recovers what it can",
				strings.Join(said.left, "; "), s.ID))
	}
	return refuse(nothingToAsk.With(), "say something first, or add a recording",
		fmt.Errorf("nothing was said in this session yet: ‘sibyl council say --session %s \"…\"’, or ‘sibyl council "+
			"add --session %s FILE’", s.ID, s.ID))
}

// recordingsWait says how many recordings wait.
func recordingsWait(n int) string {
	if n == 1 {
		return "1 recording waits"
	}
	return fmt.Sprintf("%d recordings wait", n)
}

// memberSpec makes the spec of the run of one oracle of a sitting; an error unless a sitting asks for it.
func (d Deps) memberSpec(_ context.Context, _ *session.Store, o Options, s session.Session) (run.Spec, error) {
	m := o.member
	if m == nil {
		return run.Spec{}, errors.New("an oracle of a sitting is asked by that sitting alone")
	}
	spec := run.Spec{Title: runTitle(s, m.oracle.Name), Env: Env{Model: o.Model, Name: s.Name, Language: m.language,
		Sitting: m.sitting}}
	var err error
	if spec.Texts, err = oracleTexts(m.oracle, m.context, m.entries); err != nil {
		return spec, err
	}
	snapshot := m.snapshot
	snapshot.PromptHash = promptHash(spec.Texts)
	spec.Given = Given{Kind: KindAnswer, Session: s.ID, Oracles: []Seat{seatOf(m.oracle)}, Snapshot: snapshot}
	return spec, nil
}

func (d Deps) transcriptionSpec(ctx context.Context, _ *session.Store, o Options, s session.Session) (run.Spec, error) {
	if why := d.Missing(); why != "" {
		return run.Spec{}, refuse(noTranscription.With(),
			"the recordings are kept; set up transcription in the server's settings", errors.New(why))
	}
	spec := run.Spec{Title: runTitle(s, "transcribing")}
	spec.Claims = []string{transcriptionClaim(s.ID)}
	spec.Given, spec.Env = Given{Kind: KindTranscription, Session: s.ID, Again: o.Again},
		Env{Name: s.Name, Language: s.Language}
	if s.Language == "" {
		spec.Env = Env{Name: s.Name, Expected: d.expectedLanguages(ctx, s)}
	}
	return spec, nil
}

// expectedLanguages are those that the recordings of a session may be in: those heard in it, the latest first, then the
// person's, then those of the oracles.
func (d Deps) expectedLanguages(ctx context.Context, s session.Session) (all []string) {
	add := func(language string) {
		if language != "" && !slices.Contains(all, language) {
			all = append(all, language)
		}
	}
	for _, e := range slices.Backward(s.Audio) {
		if !slices.ContainsFunc(e.Flags, func(f session.Flag) bool { return f.Kind == otherLanguage }) {
			add(e.Heard)
		}
	}
	add(d.Spoken)
	if list, err := d.Oracles.List(ctx); err == nil { // without oracles, nothing is transcribed for any
		for _, p := range list.Oracles {
			add(p.Language)
		}
	}
	return all
}

// transcriptionClaim is the claim by which a session has at most one running transcription.
func transcriptionClaim(session string) string { return "transcription " + session }

func (d Deps) namingSpec(ctx context.Context, folder *session.Store, o Options, s session.Session) (run.Spec, error) {
	if s.NamedBy == session.ByPerson {
		return run.Spec{}, refuse(namedByHand.With(), "rename it by hand", nil)
	}
	id, err := d.chooseModel(ctx, o)
	if err != nil {
		return run.Spec{}, err
	}
	if id == "" {
		return run.Spec{}, refuse(namingNeedsModel.With(),
			"without one, sessions are named by their first words, or by you", nil)
	}
	said, err := d.readContent(ctx, folder, s)
	if err != nil {
		return run.Spec{}, err
	}
	env := Env{Model: id, Name: s.Name, Language: said.language(s)}
	c := prompt.Assemble(said.entries, prompt.Options{Language: env.Language, Budget: namingTokens})
	if c.Transcripts == 0 {
		return run.Spec{}, d.whyNothingToAsk(s, said)
	}
	told, err := d.promptText(textName)
	if err != nil {
		return run.Spec{}, err
	}
	spec := run.Spec{Title: runTitle(s, "a name")}
	entries, err := entriesIn(c, said.entries)
	if err != nil {
		return run.Spec{}, err
	}
	spec.Texts = []run.Text{entries, {Name: textContext, Content: []byte(c.Text)}, told}
	spec.Given, spec.Env = Given{Kind: KindNaming, Session: s.ID}, env
	return spec, nil
}

// namingTokens is the maximum size of the context from which a model names a session.
const namingTokens = 4000
