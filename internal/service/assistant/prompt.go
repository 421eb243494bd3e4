package assistant

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/text"
)

// Prompt builds a request to a model together with its parts, so that what is shown is what was sent.
type Prompt struct {
	Request model.Request

	system []Part
	roles  []model.Role // of the messages
	said   []piece
	cut    int // tokens that the messages had to spare
}

// piece is a part of a message, with its text unchanged.
type piece struct {
	Part
	message int
	spare   Spare
	whole   string                  // its text before anything was cut
	within  func(tokens int) string // what is kept of it in so many tokens
}

// Spare says in which order parts are cut where a model's window has no room for a request. The zero Spare is never
// cut: the instructions, the person's own words, what they are about.
type Spare int

// SpareHistory is cut first, what is oldest before what follows. Then SparePassage is, what is longest first.
const (
	SpareHistory Spare = iota + 1
	SparePassage
)

// AddSegment adds a segment, unchanged, to the system prompt.
func (p *Prompt) AddSegment(name, text string) {
	p.Request.System += text
	p.system = appendPart(p.system, PartSegment, name, text)
}

// BeginMessage begins an empty message; AddPart adds its text.
func (p *Prompt) BeginMessage(by model.Role) {
	p.roles = append(p.roles, by)
	p.Request.Messages = append(p.Request.Messages, model.Message{Role: by})
}

// AddPart adds text, unchanged, to the last message; it panics before the first BeginMessage.
func (p *Prompt) AddPart(kind PartKind, name, text string) { p.AddSpare(0, kind, name, text, nil) }

// AddSpare is AddPart for a text that can be cut. within gives what is kept of it in so many tokens, by estimate; “”
// leaves it out, and a message without any text too.
func (p *Prompt) AddSpare(spare Spare, kind PartKind, name, text string, within func(tokens int) string) {
	p.Request.Messages[len(p.Request.Messages)-1].Text += text
	p.said = append(p.said, piece{Part: Part{Kind: kind, Name: name, Text: text}, message: len(p.roles) - 1,
		spare: spare, whole: text, within: within})
}

// NoRoom says of a request what was left out of it, and why.
const NoRoom = "the oldest of it, and then of the longest: the model's window had no room for it"

// LeftOut keeps nothing of a text.
func LeftOut(int) string { return "" }

// cutHere ends what Beginning gives.
const cutHere = "\n(cut here: the model's window has no room for the rest)\n"

// leastKept is how many tokens Beginning keeps at least.
const leastKept = 200

// Beginning keeps the beginning of a text, 200 tokens of it at least.
func Beginning(whole string) func(tokens int) string {
	return func(tokens int) string {
		kept := text.Clip(whole, max(tokens, leastKept)*model.BytesPerToken-len(cutHere))
		if len(kept)+len(cutHere) >= len(whole) {
			return whole
		}
		return kept + cutHere
	}
}

// For returns m for this request: where it does not fit into m's window, it is cut and sent once more.
func (p *Prompt) For(m model.Model) model.Model {
	n := len(p.Request.Messages)
	return model.CutOnce(m, n, func(tokens int) []model.Message {
		if !p.Cut(tokens) {
			return nil
		}
		return p.Request.Messages
	})
}

// Cut takes so many tokens out of the messages, as far as they can spare them, and says whether they could spare any.
func (p *Prompt) Cut(tokens int) bool {
	before := p.Request.Tokens()
	p.cut += tokens
	over := p.cut
	for i := range p.said {
		p.said[i].Text = p.said[i].whole
	}
	for i := range p.said {
		if over > 0 && p.said[i].spare == SpareHistory {
			over -= p.said[i].shorten(over)
		}
	}
	for over > 0 {
		var longest *piece
		for i := range p.said {
			if s := &p.said[i]; s.spare == SparePassage && (longest == nil || len(s.Text) > len(longest.Text)) {
				longest = s
			}
		}
		if longest == nil {
			break
		}
		spared := longest.shorten(min(over, tokensIn(longest.Text)/2))
		if over -= spared; spared == 0 {
			break
		}
	}
	p.join()
	if p.Request.Tokens() < before {
		return true
	}
	p.cut -= tokens
	return false
}

func tokensIn(text string) int { return (len(text) + model.BytesPerToken - 1) / model.BytesPerToken }

// shorten takes up to so many tokens out of a piece, and returns how many it took.
func (s *piece) shorten(tokens int) int {
	size := tokensIn(s.Text)
	kept := s.within(max(0, size-tokens))
	if len(kept) >= len(s.Text) {
		return 0
	}
	s.Text = kept
	return size - tokensIn(kept)
}

// join makes the messages of their parts. What has no text is left out, and a conversation begins with the user.
func (p *Prompt) join() {
	texts := make([]string, len(p.roles))
	for _, s := range p.said {
		texts[s.message] += s.Text
	}
	p.Request.Messages = nil
	for n, by := range p.roles {
		if texts[n] != "" && (by == model.User || len(p.Request.Messages) > 0) {
			p.Request.Messages = append(p.Request.Messages, model.Message{Role: by, Text: texts[n]})
		}
	}
}

// Sent is what a receipt keeps of the request as it was last sent.
func (p *Prompt) Sent() model.Sent {
	sent := p.Request.Digest()
	sent.Cut = p.cut
	return sent
}

// parts are all parts as they were last sent, the system prompt's first.
func (p *Prompt) parts() []Part {
	all := slices.Clone(p.system)
	for _, s := range p.said {
		all = appendPart(all, s.Kind, s.Name, s.Text)
	}
	return all
}

// TextsByOrigin gives the texts of the parts by whose words they are: the segments of these names are the assistant's
// own, and what the control layer told is too. All else is the person's, of a source, or of an earlier answer.
func (p *Prompt) TextsByOrigin(segments ...string) (ours, told, theirs []string) {
	for _, part := range p.parts() {
		switch {
		case part.Kind == PartControl:
			told = append(told, part.Text)
		case part.Kind == PartSegment && slices.Contains(segments, part.Name):
			ours = append(ours, part.Text)
		default:
			theirs = append(theirs, part.Text)
		}
	}
	return ours, told, theirs
}

// appendPart appends a part with the trimmed text, unless that is empty.
func appendPart(parts []Part, kind PartKind, name, text string) []Part {
	if text = strings.TrimSpace(text); text == "" {
		return parts
	}
	return append(parts, Part{Kind: kind, Name: name, Text: text})
}

// ShowEffect shows the request and what came back. schema is the requested form of the answer, zero for none. kept is
// what the receipt has of the request: what was cut is cut again, and Changed says whether the hash differs; without a
// hash (an old receipt) it does not.
func (p *Prompt) ShowEffect(to string, schema model.Schema, kept model.Sent, got ...Part) ShownEffect {
	x := ShownEffect{To: to, Got: got}
	if kept.Cut > p.cut {
		p.Cut(kept.Cut - p.cut)
		x.LeftOut = []string{NoRoom}
	}
	x.Changed = kept.Hash != "" && kept.Hash != p.Request.Digest().Hash
	form := ""
	if schema.Name != "" && !schema.IsIn(p.Request) {
		form = schema.Instruction()
	}
	x.Sent = appendPart(slices.Clone(p.system), PartSegment, "form", form)
	x.Sent = append(x.Sent, p.parts()[len(p.system):]...)
	return x
}

// AnswerParts gives the text of a model as one part; none if it is empty.
func AnswerParts(text string) []Part { return appendPart(nil, PartModel, "", text) }

// AnswerPartsJSON gives a value from a model as one part of indented JSON; none if it can't be encoded.
func AnswerPartsJSON(value any) []Part {
	b := &bytes.Buffer{}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(value) != nil {
		return nil
	}
	return appendPart(nil, PartModel, "", b.String())
}
