package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/schema"
	"sibyl/internal/signal"
	"sibyl/internal/text"
)

// quotedAnswer is what a model is asked for that answers from what was looked up. The quotation comes first: what a
// model has copied, it answers from.
type quotedAnswer struct {
	Quote  string `json:"quote" maxLength:"600"`
	Place  string `json:"place" maxLength:"200"`
	Answer string `json:"answer" maxLength:"1000"`
}

func quoteSchema() model.Schema {
	return model.Schema{Name: "quoted_answer", JSON: schema.Answer[quotedAnswer]()}
}

// Quoted is how an answer from what was looked up was checked.
type Quoted struct {
	Quote  string `json:"quote"`
	Place  string `json:"place,omitempty"` // as the model named it
	Answer string `json:"answer"`
	Cite   string `json:"cite,omitempty"` // the lines that hold the quotation; "": none does
	// it quotes nothing, and may come from the model's knowledge
	General bool     `json:"general,omitempty"`
	Own     []string `json:"own,omitempty"` // figures and names of the answer that stand in no place that was found
}

// quoteListener reads a reply of the form quotedAnswer. An answer is shown with the lines that hold its quotation. With
// a quotation that no place holds it is no finding: the person reads that no place answers the question, and the best
// places, as without a model. A reply of another form is text.
type quoteListener struct {
	asked agent.Request
	text  strings.Builder
}

func newQuoteListener(asked agent.Request) agent.Listener[Heard] { return &quoteListener{asked: asked} }

// Write shows nothing: half an answer can't be checked.
func (l *quoteListener) Write(text string) string {
	l.text.WriteString(text)
	return ""
}

func (l *quoteListener) Close(string, []model.ToolCall) agent.CompleteReply[Heard] {
	var said quotedAnswer
	o, err := newOffline(l.asked.Request)
	from := agent.OriginOf(l.asked)
	if err != nil || l.asked.Schema.Read(l.text.String(), &said) != nil {
		own, dropped := from.Own(l.text.String())
		return agent.CompleteReply[Heard]{Rest: signal.Neutralise(own), Report: Heard{NotOwn: dropped}}
	}
	own, dropped := from.Own(said.Answer)
	said.Answer = own
	answer, q := o.checkQuoted(said)
	kind, confidence, field := "context_sufficient", 0.9, fieldXML("sources_found", "1")
	if q.Cite == "" && !q.General {
		kind, field = "partial_answer", fieldXML("missing", o.phrase("place"))
	}
	h := Heard{Quoted: &q, NotOwn: dropped}
	if s, err := signal.Parse(signalXML(kind, confidence, field)); err == nil {
		h.Signal = &s
		h.setTime(time.Now().UTC().Truncate(time.Millisecond))
	}
	return agent.CompleteReply[Heard]{Rest: answer, Report: h}
}

// checkQuoted makes the answer that the person reads.
func (o offline) checkQuoted(said quotedAnswer) (answer string, q Quoted) {
	q = Quoted{Quote: said.Quote, Place: said.Place, Answer: said.Answer}
	places := o.openedPassages()
	said.Answer = strings.TrimSpace(signal.Neutralise(said.Answer))
	for _, p := range places {
		lines, found := p.holding(said.Quote)
		if !found || said.Answer == "" {
			continue
		}
		q.Cite, q.Own = lines.cite(), o.ownWords(said.Answer, places)
		return fmt.Sprintf("%s\n\n`%s`:\n\n%s\n", said.Answer, q.Cite, lines.fenced()), q
	}
	if o.sit.General && said.Quote == "" && said.Answer != "" {
		q.General = true
		return said.Answer, q
	}
	more := ""
	if len(places) > 1 {
		more = o.phrase("look_there")
	}
	return strings.TrimSpace(o.listPlaces(places, o.phrase("no_place")+"\n\n", more)), q
}

// leastQuoted is how many letters and digits a quotation has at least: a word or two stand anywhere.
const leastQuoted = 6

// holding are the lines of a passage that hold a quotation, letter by letter but for white space, marks and case. Each
// part of a quotation with an ellipsis is looked for.
func (p passage) holding(quotation string) (passage, bool) {
	whole := strings.Join(p.lines, "\n")
	from, to := len(p.lines), 0
	for part := range strings.SplitSeq(strings.ReplaceAll(quotation, "...", "…"), "…") {
		part = strings.TrimFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if strings.TrimSpace(part) == "" {
			continue
		}
		at, found := text.Find(whole, part)
		if !found {
			return passage{}, false
		}
		from = min(from, strings.Count(whole[:at.From], "\n"))
		to = max(to, strings.Count(whole[:at.To], "\n")+1)
	}
	letters := 0
	for _, r := range quotation {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	if from >= to || letters < leastQuoted {
		return passage{}, false
	}
	return p.cutToLines(from, to, answerRows), true
}

// ownWords are the figures of an answer, and its names, that stand neither in what was found nor in the question.
func (o offline) ownWords(answer string, places []passage) (own []string) {
	known := text.Fold(o.sit.Question + " " + o.earlier)
	for _, p := range places {
		known += "\n" + text.Fold(strings.Join(p.lines, "\n")+"\n"+p.path)
	}
	begins, german := true, languageOf(answer) == "de" // where every noun has a capital letter
	for word := range strings.FieldsSeq(answer) {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		isName := !begins && !german && bare != "I" && strings.ContainsFunc(bare, unicode.IsUpper)
		isFigure := strings.ContainsFunc(bare, unicode.IsDigit)
		if (isName || isFigure) && !strings.Contains(known, text.Fold(bare)) && !slices.Contains(own, bare) {
			own = append(own, bare)
		}
		begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?") ||
			strings.HasSuffix(word, ":")
	}
	return own
}
