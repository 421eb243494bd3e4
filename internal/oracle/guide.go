package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/signal"
)

// GuideFile is the name of the file in a searched folder that says how to answer about it, and MaxGuide bounds it, in
// characters.
const (
	GuideFile = "SIBYL.md"
	MaxGuide  = 4000
)

// GuidesText is the name under which a run keeps its guides.
const GuidesText = "guides"

// guide is a text that says how to answer, besides the prompts of this program.
type guide struct {
	Segment string       `json:"segment"` // the prompt segment that it fills
	Name    string       `json:"name"`    // as people are told of it
	Text    string       `json:"text"`
	Labels  agent.Labels `json:"labels,omitempty"`
}

// NoticeGuideLeftOut tells the person of a SIBYL.md that is not used.
const NoticeGuideLeftOut = "guide.left_out"

const guideLeftOut bt.Reason = "notice.guide_left_out: {file} is not used: {reason}"

// ErrNoGuide says that a folder has no guide.
var ErrNoGuide = errors.New("the folder has no " + GuideFile)

// guidesFor reads the guides of a question: the person's instructions, their preset, and the files of the folders that
// are searched. A file that can't be used is told to the person.
func (s Surroundings) guidesFor(ctx context.Context, o Options, env Env, told *agent.Ledger) (all []guide, err error) {
	if o.Preset.Name != "" && o.Preset.File == "" {
		return nil, fmt.Errorf("the preset %s was not read", o.Preset.Name)
	}
	add := func(segment, name, text string, labels agent.Labels) {
		if text = agent.WithoutMarks(signal.Neutralise(strings.TrimSpace(text))); text != "" {
			all = append(all, guide{segment, name, text, labels})
		}
	}
	add(prompt.Instructions, "instructions", o.Instructions, agent.Public)
	preset := agent.Public
	if o.Preset.Foreign {
		preset = agent.LabelledAs(agent.Stranger, true)
	}
	add(prompt.Preset, o.Preset.Name, o.Preset.Prompt, preset)
	if s.Guide == nil {
		return all, nil
	}
	for _, in := range []struct {
		folder string
		whose  agent.Integrity // code is often somebody else's; notes are one's own, as they are where they are read
	}{{env.CodeRoot, agent.Stranger}, {env.Vault, agent.Own}} {
		if in.folder == "" || in.folder == env.CodeRoot && in.whose == agent.Own {
			continue
		}
		text, err := s.Guide(ctx, in.folder)
		name := filepath.Base(in.folder) + "/" + GuideFile
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrNoGuide):
		case err != nil:
			told.Notice(NoticeGuideLeftOut, agent.Warning, agent.Pairs("file", name), guideLeftOut.With(name, err))
		default:
			add(prompt.Folder, name, text, agent.LabelledAs(in.whose, true))
		}
	}
	return all, nil
}

// addGuides adds the guides of a question to its environment, to what the tree is given, and to the texts of its run.
func (s Surroundings) addGuides(
	ctx context.Context, o Options, texts *prompt.Set, env *Env, g *Given,
) (kept []run.Text, all []guide, err error) {
	all, err = s.guidesFor(ctx, o, *env, &g.Ledger)
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	of := prompt.Situation{MaxTurns: 1, Signals: env.signalForm()}
	setGuides(&of, all)
	if _, err := texts.Compose(of); err != nil {
		return nil, nil, &assistant.RequestError{Why: tooManyGuides.With(), Err: err,
			Hint: "shorten the instructions or the preset"}
	}
	for _, one := range all {
		env.Guides = append(env.Guides, one.Name)
		g.Ledger.Labels = g.Ledger.Labels.Join(one.Labels)
	}
	content, err := json.Marshal(all)
	return []run.Text{{Name: GuidesText, Content: content}}, all, err
}

const tooManyGuides bt.Reason = "request.guides: the instructions take too much room beside the prompts"

// loadGuides reads the guides that a run began with.
func loadGuides(ctx context.Context, v *run.View, env Env) (all []guide, err error) {
	if len(env.Guides) == 0 {
		return nil, nil
	}
	content, err := v.Text(ctx, GuidesText)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", GuidesText, journal.ErrCorrupt, err)
	}
	return all, nil
}

// setGuides puts guides into a situation.
func setGuides(of *prompt.Situation, all []guide) {
	texts := map[string][]string{}
	for _, one := range all {
		if one.Segment == prompt.Folder {
			one.Text = one.Name + ":\n\n" + one.Text
		}
		texts[one.Segment] = append(texts[one.Segment], one.Text)
	}
	join := func(segment string) string { return strings.Join(texts[segment], "\n\n") }
	of.Instructions, of.Preset, of.Folder = join(prompt.Instructions), join(prompt.Preset), join(prompt.Folder)
}

// guideTexts are the texts of guides: in a reply they are no echo of this program's prompts.
func guideTexts(all []guide) (texts []string) {
	for _, one := range all {
		texts = append(texts, one.Text)
	}
	return texts
}
