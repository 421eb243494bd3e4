package signal

import "strings"

// Form is how a text quotes what it mentions.
type Form string

// The forms of a quotation.
const (
	Blockquote Form = "blockquote"
	Indented   Form = "indented code"
	Code       Form = "code" // a fence or a code span
)

// Mention is a signal that the text quotes: it is logged, and nothing follows from it.
type Mention struct {
	Type   Type   `json:"type,omitempty"` // "": it is not well-formed
	Form   Form   `json:"form"`
	Raw    string `json:"raw"`    // at most maxRaw bytes of it
	Offset int64  `json:"offset"` // in bytes, in the text as it came in
}

// mostMentions bounds how many mentions of a text are kept.
const mostMentions = 32

func (r *Result) mention(form Form, raw string, offset int64) {
	if len(r.Mentions) == mostMentions {
		return
	}
	m := Mention{Form: form, Raw: raw, Offset: offset}
	if s, err := Parse(raw); err == nil {
		m.Type = s.Type
	}
	if len(raw) > maxRaw {
		m.Raw = strings.ToValidUTF8(raw[:maxRaw], "")
	}
	r.Mentions = append(r.Mentions, m)
}

// mentionsIn logs the signals that stand in code.
func (r *Result) mentionsIn(code string, offset int64) {
	for i := 0; i < len(code) && len(r.Mentions) < mostMentions; {
		at := strings.IndexByte(code[i:], '<')
		if at < 0 {
			return
		}
		i += at
		n := 1
		if tag, v := readTag(code[i:]); v == yes && tag.typed {
			d := readMarkup(window{text: code[i:], final: true})
			r.mention(Code, d.raw, offset+int64(i))
			n = d.n
		}
		i += n
	}
}
