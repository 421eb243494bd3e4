package document

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/ledongthuc/pdf"
)

// printer writes down the text of pages. Fonts are kept from page to page.
type printer struct {
	ctx    context.Context
	fonts  map[string]*font
	failed error // the last page that could not be read
	pages  int   // that could be read
}

// failure is why no page could be read at all.
func (p *printer) failure(e extract) error {
	if p.failed == nil || p.pages > 0 {
		return nil
	}
	for _, text := range e.Pages {
		if text != "" {
			return nil
		}
	}
	return refuse(Damaged, "its pages can't be read (%w); open it and save it anew", p.failed)
}

// page gives the text of a page, as far as it could be read. A panic of the library ends the page, not the document.
func (p *printer) page(v pdf.Value) (text string, whole bool) {
	s := sheet{printer: p}
	err := s.try(func() { s.draw(v.Key("Contents"), inherited(v, "Resources"), 0) })
	if err != nil {
		p.failed = err
	} else {
		p.pages++
	}
	return s.text(), err == nil
}

// try does something, and gives its panic as an error. That ctx is done panics on.
func (s *sheet) try(do func()) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if s.printer.ctx.Err() != nil {
			panic(s.printer.ctx.Err())
		}
		if refusal, ok := r.(*Error); ok {
			panic(refusal)
		}
		err = fmt.Errorf("%.100s", fmt.Sprint(r))
		if failed, ok := r.(runtime.Error); ok {
			err = errors.New(failed.Error())
		}
	}()
	do()
	return nil
}

// inherited is what a page says, or one of those that it lies in.
func inherited(v pdf.Value, key string) pdf.Value {
	for range 64 {
		if found := v.Key(key); !found.IsNull() {
			return found
		}
		v = v.Key("Parent")
	}
	return pdf.Value{}
}

// matrix is a transformation as PDFs write it: six numbers.
type matrix [6]float64

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func shift(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

func identity() matrix { return shift(0, 0) }

// state is how text is drawn.
type state struct {
	font                          *font
	size, leading, rise           float64
	characters, words, horizontal float64 // spacing
	view                          matrix
}

// sheet is a page as it is drawn.
type sheet struct {
	printer *printer
	state   state
	saved   []state
	runs    []run
	at      matrix // where the next character comes
	line    matrix // where the line began
	bytes   int
	drawn   int              // bytes of contents, the same ones again included
	listed  pdf.Value        // the fonts of the content that is drawn
	fonts   map[string]*font // of them, those that were asked for
}

const (
	deepest   = 6       // drawings within drawings
	mostSaved = 1000    // states
	maxSheet  = 4 << 20 // bytes of the text of a page
	drawing   = 1 << 10 // bytes that a content counts as beside its own
)

// draw draws a content with its resources.
func (s *sheet) draw(content, resources pdf.Value, depth int) {
	if depth == 0 {
		s.state = state{horizontal: 1, view: identity()}
		s.at, s.line = identity(), identity()
	}
	if content.Kind() != pdf.Stream && content.Kind() != pdf.Array {
		return
	}
	if s.drawn += checked(content) + drawing; s.drawn > maxContent {
		panic(refuse(TooLarge, "a page of it draws more than %d MB; print it to a new PDF", maxContent>>20))
	}
	listed, fonts := s.listed, s.fonts
	defer func() { s.listed, s.fonts = listed, fonts }()
	s.listed, s.fonts = resources.Key("Font"), map[string]*font{}
	pdf.Interpret(content, func(stack *pdf.Stack, operator string) {
		if err := s.printer.ctx.Err(); err != nil {
			panic(err)
		}
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		if s.bytes < maxSheet {
			s.operate(operator, args, resources, depth)
		}
	})
}

// numbers gives the last n arguments as numbers, or false.
func numbers(args []pdf.Value, n int) ([]float64, bool) {
	if len(args) < n {
		return nil, false
	}
	list := make([]float64, n)
	for i, a := range args[len(args)-n:] {
		list[i] = a.Float64()
		if math.IsNaN(list[i]) || math.IsInf(list[i], 0) {
			return nil, false
		}
	}
	return list, true
}

// operate does what an operator says, where it concerns text.
func (s *sheet) operate(operator string, args []pdf.Value, resources pdf.Value, depth int) {
	switch operator {
	case "q":
		if len(s.saved) < mostSaved {
			s.saved = append(s.saved, s.state)
		}
	case "Q":
		if n := len(s.saved); n > 0 {
			s.state, s.saved = s.saved[n-1], s.saved[:n-1]
		}
	case "cm":
		if n, ok := numbers(args, 6); ok {
			s.state.view = matrix(n).times(s.state.view)
		}
	case "BT":
		s.at, s.line = identity(), identity()
	case "Tm":
		if n, ok := numbers(args, 6); ok {
			s.line = matrix(n)
			s.at = s.line
		}
	case "Td", "TD":
		if n, ok := numbers(args, 2); ok {
			if operator == "TD" {
				s.state.leading = -n[1]
			}
			s.move(n[0], n[1])
		}
	case "T*":
		s.move(0, -s.state.leading)
	case "Tf":
		if n, ok := numbers(args, 1); ok && len(args) >= 2 {
			s.state.font, s.state.size = s.fontOf(args[len(args)-2].Name()), n[0]
		}
	case "Tj", "'", "\"", "TJ":
		s.show(operator, args)
	case "Do":
		if len(args) > 0 && depth < deepest {
			s.drawForm(resources.Key("XObject").Key(args[len(args)-1].Name()), resources, depth)
		}
	default:
		s.set(operator, args)
	}
}

// set sets a value of the state.
func (s *sheet) set(operator string, args []pdf.Value) {
	n, ok := numbers(args, 1)
	if !ok {
		return
	}
	switch operator {
	case "TL":
		s.state.leading = n[0]
	case "Ts":
		s.state.rise = n[0]
	case "Tc":
		s.state.characters = n[0]
	case "Tw":
		s.state.words = n[0]
	case "Tz":
		s.state.horizontal = n[0] / 100
	}
}

func (s *sheet) move(x, y float64) {
	s.line = shift(x, y).times(s.line)
	s.at = s.line
}

// drawForm draws what stands in a content of its own.
func (s *sheet) drawForm(form, resources pdf.Value, depth int) {
	if form.Key("Subtype").Name() != "Form" {
		return
	}
	if own := form.Key("Resources"); !own.IsNull() {
		resources = own
	}
	before, saved, at, line := s.state, s.saved, s.at, s.line
	if m := form.Key("Matrix"); m.Len() == 6 {
		var list []pdf.Value
		for i := range 6 {
			list = append(list, m.Index(i))
		}
		if n, ok := numbers(list, 6); ok {
			s.state.view = matrix(n).times(s.state.view)
		}
	}
	s.saved = nil
	s.draw(form, resources, depth+1)
	s.state, s.saved, s.at, s.line = before, saved, at, line
}

// show draws text.
func (s *sheet) show(operator string, args []pdf.Value) {
	if len(args) == 0 {
		return
	}
	last := args[len(args)-1]
	switch operator {
	case "'":
		s.move(0, -s.state.leading)
	case "\"":
		if n, ok := numbers(args[:len(args)-1], 2); ok {
			s.state.words, s.state.characters = n[0], n[1]
		}
		s.move(0, -s.state.leading)
	case "TJ":
		for i := range last.Len() {
			if x := last.Index(i); x.Kind() == pdf.String {
				s.write(x.RawString())
			} else {
				s.at = shift(-x.Float64()/1000*s.state.size*s.state.horizontal, 0).times(s.at)
			}
		}
		return
	}
	s.write(last.RawString())
}

// write draws a string in the font of the state.
func (s *sheet) write(raw string) {
	f := s.state.font
	if f == nil || raw == "" {
		return
	}
	where := shift(0, s.state.rise).times(s.at).times(s.state.view)
	text := f.decode(raw)
	s.bytes += len(text)
	width := f.width(raw)*s.state.size + float64(f.glyphs(raw))*s.state.characters
	if !f.composite {
		width += float64(strings.Count(raw, " ")) * s.state.words
	}
	s.at = shift(width*s.state.horizontal, 0).times(s.at)
	end := shift(0, s.state.rise).times(s.at).times(s.state.view)
	if text != "" {
		s.runs = append(s.runs, run{text: text, from: where, to: end, size: math.Abs(s.state.size)})
	}
}
