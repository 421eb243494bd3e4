package understand

// describe reads what is to be done with a description: "the description of task 2 to X", "a note to task 2: X". away says that it is removed.
func (r *reader) describe(object span, away bool) []Result {
	object = r.trimEnd(object, tEnding)
	if end := r.possessed(object, tDesc); end > 0 && (end == object.hi || r.valueAt(end, object.hi) > 0) {
		return r.described(r.it(object.lo, end), span{end + r.valueAt(end, object.hi), object.hi}, away)
	}
	i := r.skip(object.lo, object.hi, rArticle, rIndefinite, rNew, rEach, tAs)
	n := r.at(i, object.hi, tDesc)
	if n == 0 {
		return r.describedBehind(object, away)
	}
	i += n
	quoted := span{}
	if r.isOpening(i) { // the note "X" to task 2
		j := i + 1
		for j < object.hi && !r.isQuoted(span{i, j}) {
			j++
		}
		quoted = span{i, j}
		i = j
	}
	k := r.at(i, object.hi, rOf, tTo, rAbout, tFrom)
	if k == 0 && r.at(i, object.hi, rArticle) == 0 { // a genitive has no preposition
		return nil
	}
	ref, end := r.exact(span{i + k, object.hi})
	if n := r.at(i, object.hi, tInto); ref == nil && n > 0 && !away && quoted.empty() && r.context.Spoken && r.valueIn(i+n, object.hi) < 0 { // "the description to X"
		it := &named{Reference: Reference{Words: r.raw(span{object.lo, i}), It: true}, explicit: true}
		return r.described(it, span{i + n, object.hi}, false)
	}
	value := quoted
	about := ref != nil && ref.It && r.aboutAt(end, object.hi)
	if about || ref == nil || end < object.hi && r.valueAt(end, object.hi) == 0 {
		if !about {
			end = i + k
		}
		noun := func() bool { return r.aboutAt(end, object.hi) && r.isNoun(span{i + k, end}) }
		for end++; end < object.hi && (r.valueAt(end, object.hi) == 0 || noun()); {
			end++
		}
		if ref = r.reference(span{i + k, end}); ref == nil || ref.several {
			return nil
		}
	}
	if end < object.hi {
		value = span{end + r.valueAt(end, object.hi), object.hi}
	}
	return r.described(ref, value, away)
}

// describedBehind reads "task 2's description to X" and "task 2 description: X".
func (r *reader) describedBehind(object span, away bool) []Result {
	for i := object.lo + 1; i < object.hi; i++ {
		n := r.at(i, object.hi, tDesc)
		if n == 0 || r.tokens[i].quoted {
			continue
		}
		if r.before(object.lo, i, tWith) > 0 { // "task: X with description: Y" makes one
			return nil
		}
		task := r.trimStart(r.trimPossessive(span{object.lo, i}), rOf, tTo, rAbout, tFrom) // "to task 2 the note X"
		task = r.trimEnd(task, rArticle, rIndefinite, tAs)
		if task.empty() {
			return nil
		}
		ref := r.reference(task)
		if ref == nil || ref.several || !ref.explicit {
			return nil
		}
		k := r.valueAt(i+n, object.hi)
		if k == 0 && i+n < object.hi && !r.isOpening(i+n) {
			return nil
		}
		return r.described(ref, span{i + n + k, object.hi}, away)
	}
	return nil
}

func (r *reader) described(ref *named, value span, away bool) []Result {
	text := r.raw(r.unquoted(r.value(value)))
	e := Entities{Reference: &ref.Reference, HasDescription: away || text != "", Description: text}
	if away {
		e.Description = ""
	}
	return one(Update, min(clear, r.trust(ref)), e, "a command, a task and its description")
}

// valueIn finds what stands before a value; -1: there is none.
func (r *reader) valueIn(i, hi int) int {
	for ; i < hi; i++ {
		if r.valueAt(i, hi) > 0 && !r.tokens[i].quoted {
			return i
		}
	}
	return -1
}

func (r *reader) valueAt(i, hi int) int {
	if r.sign(i, ":", "->", "=", ",") {
		return 1
	}
	return r.at(i, hi, tInto)
}

func (r *reader) isOpening(i int) bool {
	return i < len(r.tokens) && r.tokens[i].quoted && r.sign(i, `"`, "'")
}
