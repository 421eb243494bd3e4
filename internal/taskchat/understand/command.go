package understand

import "slices"

// Confidences by evidence. The thresholds they are measured by are .70 to list, .80 to create and complete, .85 to update and .90 to delete.
const (
	sure    = 0.95 // a command with a reference by position
	clear   = 0.92 // a command with a well-formed object
	likely  = 0.88 // a command with words of a title
	implied = 0.82 // said without a command: a need, a thing done
	asked   = 0.75 // a command in doubt: asked, in a condition, or by a verb that has other meanings
	weak    = 0.65
	bare    = 0.55 // words without a verb
	low     = 0.4
)

// aVerbAlone is the reasoning of a command that does not say what it is about.
const aVerbAlone = "a verb alone"

// reader reads one message in one language.
type reader struct {
	*text
	context  Context
	previous Intent // of the clause or message before, if it asked to change tasks
	acted    bool   // a clause before asks for something
	told     bool   // the clause before told what the person did
	spoke    bool   // the clause before said how a task is
	guessed  bool   // nothing showed what the message is for
}

// one is a Result.
func one(i Intent, confidence float64, e Entities, why string) []Result {
	return []Result{{Intent: i, Confidence: confidence, Entities: e, Reasoning: why}}
}

// command reads a part as a command. nil: it is none.
func (r *reader) command(s span) []Result {
	if out := r.ticked(s); out != nil {
		return out
	}
	for _, h := range r.heads(s) {
		if out := r.perform(s, h); out != nil {
			if h.typo {
				r.doubtTypo(out)
			}
			return out
		}
	}
	return nil
}

// head is a verb and what it is applied to.
type head struct {
	class  class
	object span
	value  int
	typo   bool // not the verb as it is spelled
	final  bool // at the end of its clause
	when   span // a time within its frame
}

// heads lists how the verb of a part may be read, the likeliest first.
func (r *reader) heads(s span) (list []head) {
	if s.empty() {
		return nil
	}
	for _, e := range r.found[s.lo] {
		n := 1 + len(e.rest)
		switch {
		case s.lo+n > s.hi:
		case e.class == tParticle:
			p := r.lex.pairs[e.value]
			if object, when, ok := r.particle(s, s.lo+n, p.particle); ok && (when.empty() || p.class == vRemind) {
				list = append(list, head{class: p.class, object: object, when: when})
			}
		case e.class < lastVerb:
			list = append(list, head{class: e.class, object: span{s.lo + n, s.hi}, value: e.value})
		}
	}
	slices.SortStableFunc(list, func(a, b head) int { // a longer verb says more
		return a.object.hi - a.object.lo - (b.object.hi - b.object.lo)
	})
	list = append(list, r.finals(s)...)
	if list == nil {
		if w := r.misspelled(s.lo); w != "" {
			for _, e := range r.lex.entries[w] {
				if len(e.rest) == 0 && e.class < vErrand {
					list = append(list, head{class: e.class, object: span{s.lo + 1, s.hi}, value: e.value, typo: true})
				}
			}
		}
	}
	return list
}

// particle finds the particle of a split verb: at the end, right behind the verb, or before what says where to. object is all else, but for a
// time that stands between them when the title follows.
func (r *reader) particle(s span, from int, particle string) (object, when span, ok bool) {
	words := splitWords(particle)
	for i := s.hi - len(words); i >= from; i-- {
		same := true
		for k, w := range words {
			same = same && r.tokens[i+k].norm == w && !r.tokens[i+k].quoted
		}
		if !same {
			continue
		}
		end := i + len(words)
		behind := r.trimEnd(span{end, s.hi}, fFiller, tEnding, fMe)
		switch {
		case behind.empty():
			return span{from, i}, span{}, true
		case i == from:
			return behind, span{}, true
		case r.listPhrase(end, behind.hi, tTo, tFrom) == behind.hi-end:
			return span{from, i}, span{}, true
		case r.sign(end, ":"): // "schreib auf: Milch"; what stands between says only for whom
			return behind, span{}, r.trim(span{from, i}, fFiller, fMe).empty() || r.startsTitle(from, i, end)
		case r.tokens[from].norm != "" && r.startsTitle(from, i, end):
			return behind, span{}, true
		case r.sign(end, ",") && r.at(behind.lo+1, behind.hi, tInfTo) > 0 && r.trim(span{from, i}, fFiller, fMe).empty(): // "schreib mir auf, dass ich"
			return span{behind.lo + 1, behind.hi}, span{}, true
		case r.sign(end, ","): // "mich morgen daran erinnern, Milch zu kaufen"
			between := r.trim(span{from, i}, fFiller)
			if k := r.before(between.lo, between.hi, tThat); k > 0 {
				return behind, r.trim(span{between.lo, between.hi - k}, fFiller), true
			}
		}
	}
	return span{}, span{}, false
}

// startsTitle says that between a verb and its particle stands nothing but "a task", so that the title follows.
func (r *reader) startsTitle(from, particle, end int) bool {
	i := r.skip(from, particle, rArticle, rIndefinite, rNew, rNumber, fMe, fFiller)
	n := r.at(i, particle, rTask, rTasks)
	return i+n == particle && n > 0 && (r.at(end, len(r.tokens), tInfTo, rAbout) > 0 || r.sign(end, ",", ":"))
}

// finals are verbs at the end of a clause: "Aufgabe 2 löschen". Where a language does not put them there, the object must be a position.
func (r *reader) finals(s span) (list []head) {
	for i := s.lo + 1; i < s.hi; i++ { // "eine Aufgabe hinzufügen: Rasen mähen"
		if n := r.before(s.lo, i, vCreate); r.sign(i, ":") && n > 0 && n < i-s.lo && r.startsTitle(s.lo, i-n, i) {
			return []head{{class: vCreate, object: span{i, s.hi}}}
		}
	}
	end := r.trimEnd(s, fFiller, tEnding, fMe).hi
	for i := s.hi - 1; i > s.lo; i-- {
		if i < end-3 {
			break
		}
		for _, e := range r.found[i] {
			if e.class >= vErrand || e.class == vNeed || i+1+len(e.rest) != end {
				continue
			}
			object := r.trim(span{s.lo, i}, fFiller, fMe)
			if k := r.before(object.lo, object.hi, tZu); k > 0 {
				object.hi -= k
			}
			if !r.lex.last {
				if n, at := r.exact(object); n == nil || at != object.hi {
					continue
				}
			}
			if !object.empty() {
				list = append(list, head{class: e.class, object: object, value: e.value, final: true})
			}
		}
	}
	return list
}

// perform reads what a verb is applied to. nil: it can't be applied to that.
func (r *reader) perform(s span, h head) []Result {
	object := r.trim(h.object, fMe)
	switch h.class {
	case vRemind:
		return r.remind(h)
	case vNeed:
		return r.need(h)
	case vCreate:
		return r.create(s, h)
	case vPut:
		return r.put(object, h.value)
	case vDelete, vDeleteWeak:
		if h.class == vDelete || !r.trimStart(object, fFiller).empty() {
			if out := r.describe(object, true); out != nil {
				return out
			}
		}
		return r.change(Delete, s, h)
	case vComplete, vCompleteWeak:
		return r.change(Complete, s, h)
	case vUpdate, vUpdateWeak, vRename:
		return r.update(s, h)
	case vMove:
		return r.move(s, object)
	case vReopen:
		return r.reopen(object)
	case vMark:
		return r.mark(object)
	case vList:
		if h.value == 1 && r.at(object.lo, object.hi, rArticle) == 0 { // "open tasks" are no command
			return nil
		}
		return r.list(object, h.final)
	case vFind:
		return r.find(object, h.value == 1)
	case vUndo:
		return r.undo(object)
	case vGive:
		return r.give(object)
	case vErrand, vErrandNoun:
		return r.errand(s, h)
	}
	return nil
}

// change reads commands that need nothing but which tasks: Delete and Complete.
func (r *reader) change(i Intent, s span, h head) []Result {
	isWeak := h.class == vDeleteWeak || h.class == vCompleteWeak
	object := r.trim(h.object, fMe, fFiller)
	if object.empty() {
		if isWeak && !h.typo && i == Delete {
			return nil
		}
		return one(i, clear, Entities{}, aVerbAlone)
	}
	if r.lex.last && r.at(r.skip(object.lo, object.hi, rOnly, fFiller), object.hi, rNot, yNo) > 0 { // "lösch bloß nicht die zweite"
		return r.refuse()
	}
	if r.at(object.lo, object.hi, rNone) == object.hi-object.lo { // "delete nothing"
		return r.refuse()
	}
	ref := r.reference(object)
	if all := r.ofStatus(object); all != nil && i == Delete {
		ref = all
	}
	if ref == nil {
		return nil
	}
	return r.changed(i, s, ref, isWeak)
}

// ofStatus reads "completed", "pending" alone as all tasks of that status. nil: it is something else.
func (r *reader) ofStatus(object span) *named {
	ref := &named{Reference: Reference{Words: r.raw(object), All: true}, explicit: true}
	switch n := object.hi - object.lo; {
	case r.tokens[object.lo].quoted || r.at(object.lo, object.hi, tFrom, rTask, yWeak) == n: // "off", "todo"
		return nil
	case r.at(object.lo, object.hi, tUndone) == n:
		ref.status = "pending"
	case r.at(object.lo, object.hi, tDone) == n:
		ref.status = "completed"
	default:
		return nil
	}
	return ref
}

// changed is a Delete or Complete of a reference, as sure as the reference is.
func (r *reader) changed(i Intent, s span, ref *named, isWeak bool) []Result {
	e := Entities{Status: ref.status, Reference: &ref.Reference}
	if ref.several {
		e.Reference = nil
		if ref.doubt {
			return one(i, asked, e, "a command, and a place that is none")
		}
		return one(i, clear, e, "a command without a task")
	}
	out := one(i, r.trust(ref), e, "a command and a task")
	c := &out[0]
	if ref.explicit {
		if isWeak {
			c.Confidence -= 0.01
		}
		return out
	}
	whole := Alternative{Create, bare, Entities{Title: r.title(s)}}
	if isWeak && r.isErrand(s) {
		return nil
	}
	if isWeak {
		c.Confidence, c.Reasoning, whole.Confidence = weak, "a verb that may also belong to a new task", weak-0.05
		c.Alternatives = []Alternative{whole}
		return out
	}
	if i == Complete {
		c.Confidence = min(c.Confidence, likely)
		c.Alternatives = []Alternative{whole}
	}
	return out
}

// isErrand says that a part begins with a verb that is one of errands as well.
func (r *reader) isErrand(s span) bool { return r.at(s.lo, s.hi, vErrand, vErrandNoun) > 0 }

// trust is how sure a command is by its reference.
func (r *reader) trust(ref *named) float64 {
	switch {
	case ref.It && !r.context.Spoken && r.context.Shown == 0 && r.context.Open == nil:
		return weak
	case ref.doubt:
		return asked - 0.05
	case ref.Title == "":
		return sure
	case ref.explicit:
		return clear + 0.01
	}
	return clear
}
