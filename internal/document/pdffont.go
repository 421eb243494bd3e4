package document

import (
	"strings"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// font says which letters a font shows and how wide they are.
type font struct {
	encoding  pdf.TextEncoding // nil: its letters are its bytes, where they are not known
	composite bool             // its codes are of two bytes
	mute      bool             // it does not say which letters it shows
	first     int
	widths    []float64       // from first on, in thousandths of its size
	wide      map[int]float64 // of a composite font
	usual     float64
	known     map[string]string // what codes mean
	told      int               // codes of ranges of letters and widths so far, the same ones again included
}

const (
	maxKnown  = 1 << 16 // of a font
	maxWidths = 1 << 16
	maxTold   = 4 * maxKnown
)

// fontOf is a font of the content that is drawn, or nil. The library reads the file for each that it is asked for.
func (s *sheet) fontOf(name string) *font {
	f := s.fonts[name]
	if f == nil {
		if f = s.printer.fontOf(s.listed.Key(name)); f != nil {
			s.fonts[name] = f
		}
	}
	return f
}

// fontOf is a font, or nil. One that can't be read shows its bytes.
func (p *printer) fontOf(v pdf.Value) *font {
	if v.Kind() != pdf.Dict {
		return nil
	}
	key := v.String() // what it says, with the numbers of what it refers to
	if f := p.fonts[key]; f != nil {
		return f
	}
	f := &font{usual: 500, known: map[string]string{}}
	s := sheet{printer: p}
	_ = s.try(func() { // without widths words are parted a little worse
		f.composite = v.Key("Subtype").Name() == "Type0"
		if f.composite {
			f.readWide(v.Key("DescendantFonts").Index(0))
		} else {
			f.readWidths(v)
		}
	})
	_ = s.try(func() { f.readLetters(v) }) // then its encoding has to do
	encoding := v.Key("Encoding")
	isTable := v.Key("ToUnicode").Kind() == pdf.Stream // which the library would read, as it is
	switch identity := encoding.Name(); {
	case len(f.known) > 0, isTable && encoding.Kind() == pdf.Null:
	case f.composite && (identity == "Identity-H" || identity == "Identity-V"):
		f.mute = true
	case s.try(func() { f.encoding = (&pdf.Font{V: v}).Encoder() }) != nil:
		f.encoding = nil
	}
	if len(p.fonts) < 1000 {
		p.fonts[key] = f
	}
	return f
}

func (f *font) readWidths(v pdf.Value) {
	f.first = int(v.Key("FirstChar").Int64())
	list := v.Key("Widths")
	for i := range min(list.Len(), maxWidths) {
		f.widths = append(f.widths, list.Index(i).Float64())
	}
	if missing := v.Key("FontDescriptor").Key("MissingWidth").Float64(); missing > 0 {
		f.usual = missing
	}
}

// readWide reads the widths of a composite font: “first [width…]” and “first last width”.
func (f *font) readWide(v pdf.Value) {
	f.wide, f.usual = map[int]float64{}, 1000
	if d := v.Key("DW"); !d.IsNull() {
		f.usual = d.Float64()
	}
	list := v.Key("W")
	for i := 0; i+1 < list.Len() && len(f.wide) < maxWidths; {
		first, second := int(list.Index(i).Int64()), list.Index(i+1)
		if second.Kind() == pdf.Array {
			for j := range min(second.Len(), maxTold-f.told) {
				f.told++
				f.wide[first+j] = second.Index(j).Float64()
			}
			i += 2
			continue
		}
		width := list.Index(i + 2).Float64()
		for code := first; code <= int(second.Int64()) && len(f.wide) < maxWidths && f.told < maxTold; code++ {
			f.told++
			f.wide[code] = width
		}
		i += 3
	}
}

// codes are the codes of a string.
func (f *font) codes(raw string, yield func(code string, number int)) {
	if !f.composite {
		for i := range len(raw) {
			yield(raw[i:i+1], int(raw[i]))
		}
		return
	}
	for i := 0; i+1 < len(raw); i += 2 {
		yield(raw[i:i+2], int(raw[i])<<8|int(raw[i+1]))
	}
}

func (f *font) glyphs(raw string) int {
	if f.composite {
		return len(raw) / 2
	}
	return len(raw)
}

// width is that of a string in units of the font's size.
func (f *font) width(raw string) (sum float64) {
	f.codes(raw, func(_ string, n int) {
		switch w, is := f.wide[n]; {
		case is:
			sum += w
		case n-f.first >= 0 && n-f.first < len(f.widths):
			sum += f.widths[n-f.first]
		default:
			sum += f.usual
		}
	})
	return sum / 1000
}

// decode gives the letters of a string.
func (f *font) decode(raw string) string {
	var b strings.Builder
	f.codes(raw, func(code string, _ int) {
		text, is := f.known[code]
		if !is {
			switch {
			case f.mute:
				text = string(utf8.RuneError)
			case f.encoding != nil:
				text = letters(f.encoding.Decode(code)) // which the library looks up anew each time
			default:
				text = letters(code)
			}
			if len(f.known) < maxKnown {
				f.known[code] = text
			}
		}
		b.WriteString(text)
	})
	return b.String()
}

// letters makes bytes that are no UTF-8 the letters of Latin-1.
func letters(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}
