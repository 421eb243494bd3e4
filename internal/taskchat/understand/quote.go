package understand

// quotation is the only quotation of a part; empty: there is none, or there are several.
func (t *text) quotation(s span) (q span) {
	for i := s.lo; i < s.hi; i++ {
		if !t.tokens[i].quoted {
			continue
		}
		end := i + 1
		for end < s.hi && t.tokens[end].quoted && !(t.sign(end-1, t.tokens[i].norm) && end-1 > i) {
			end++
		}
		if !q.empty() || !t.isQuoted(span{i, end}) {
			return span{}
		}
		q, i = span{i, end}, end-1
	}
	return q
}

// quotedOnto reads a quotation that is to be on the list, whatever frames it: "I'd like “X” on my list", "make “X” a task", "“X” should go on
// the list". nil: it is something else.
func (r *reader) quotedOnto(f front) []Result {
	q := r.quotation(f.span)
	if q.empty() || r.has(f.span, rNot, fIf, fAsking, fReport) >= 0 || r.at(f.lo, f.hi, fAux) > 0 {
		return nil
	}
	before, behind := r.trim(span{f.lo, q.lo}, fFiller, fMe), r.trim(span{q.hi, f.hi}, fFiller, fMe, tEnding)
	listed := false
	for i := behind.lo; i < behind.hi; i++ {
		if n := r.listPhrase(i, behind.hi, tTo); n > 0 && i+n == behind.hi {
			listed = r.at(i-1, i, tDone, vMark) == 0 && r.has(span{behind.lo, i}, fStative) < 0
		}
	}
	k := r.skip(behind.lo, behind.hi, tAs, rIndefinite, rArticle, rNew)
	task := k > behind.lo && r.at(k, behind.hi, rTask) > 0 && k+r.at(k, behind.hi, rTask) == behind.hi
	k = r.skip(r.skip(before.lo, before.hi, fWish, vNeed), before.hi, rIndefinite, rNew)
	noun := r.at(k, before.hi, rTask)
	called := k > before.lo && noun > 0 && r.skip(k+noun, before.hi, rAbout) == before.hi // "I want a task called “X”"
	if !listed && !task && !called || r.verbOf(before, Delete) || r.verbOf(before, Complete) || r.verbOf(behind, Delete) || r.verbOf(behind, Complete) {
		return nil
	}
	return one(Create, clear, Entities{Title: r.raw(r.unquoted(q))}, "a quotation for the list")
}

func (r *reader) verbOf(s span, intent Intent) bool {
	for i := s.lo; i < s.hi; i++ {
		if r.isVerbOf(i, s.hi, intent) > 0 || r.at(i, s.hi, vRename, vUpdate, vReopen) > 0 {
			return true
		}
	}
	return false
}

// quotations cuts a part that is nothing but quotations with joints between; nil: it is something else.
func (r *reader) quotations(s span) (out []span) {
	for i := s.lo; i < s.hi; {
		if n := r.joint(i, s.hi, false); n > 0 && out != nil {
			i += n
			continue
		}
		end := i + 1
		for end < s.hi && !r.isQuoted(span{i, end}) {
			end++
		}
		if !r.isQuoted(span{i, end}) {
			return nil
		}
		out = append(out, span{i, end})
		i = end
	}
	return out
}
