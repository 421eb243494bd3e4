package api

import (
	"slices"
	"time"
	"unicode/utf8"
)

// How often a draft is sent: not before so much time, and not more bytes of it in a second.
const (
	draftEvery = 100 * time.Millisecond
	draftBytes = 64 << 10
)

// drafts are the provisional texts of a stream. Of what an operation says only the last is kept to be sent, and its bytes belong to all who
// watch the operation.
type drafts struct {
	all []*drafted // in the order in which they began
}

type drafted struct {
	About
	op   uint64
	text []byte    // nil: nothing is to be sent
	next time.Time // when it may be sent; zero: it never was
}

// put has a draft sent in place of what is not sent yet of its operation.
func (d *drafts) put(who About, op uint64, text []byte) {
	i := slices.IndexFunc(d.all, func(one *drafted) bool { return one.op == op && one.Run == who.Run })
	if i < 0 {
		i = len(d.all)
		d.all = append(d.all, &drafted{About: who, op: op})
	}
	d.all[i].text = text
}

// drop forgets what an operation said, and tells whether something of it was sent.
func (d *drafts) drop(who About, op uint64) (sent bool) {
	d.all = slices.DeleteFunc(d.all, func(one *drafted) bool {
		its := one.op == op && one.Run == who.Run
		sent = sent || its && !one.next.IsZero()
		return its
	})
	return sent
}

// dropAll forgets what was said in a run.
func (d *drafts) dropAll(who About) {
	d.all = slices.DeleteFunc(d.all, func(one *drafted) bool { return one.Run == who.Run })
}

// flush sends what is not sent yet of a run.
func (d *drafts) flush(who About, send func(About, uint64, []byte)) {
	for _, one := range d.all {
		if one.Run == who.Run && one.text != nil {
			one.send(time.Now(), send)
		}
	}
}

// sendDue sends what may be sent at now.
func (d *drafts) sendDue(now time.Time, send func(About, uint64, []byte)) {
	for _, one := range d.all {
		if one.text != nil && !one.next.After(now) {
			one.send(now, send)
		}
	}
}

func (d *drafted) send(now time.Time, send func(About, uint64, []byte)) {
	text := whole(d.text)
	d.text, d.next = nil, now.Add(max(draftEvery, time.Duration(len(text))*time.Second/draftBytes))
	send(d.About, d.op, text)
}

// whole leaves out the beginning of a last character that is still to come.
func whole(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// timer tells when the next draft may be sent; stop frees it.
func (d *drafts) timer(now time.Time) (due <-chan time.Time, stop func()) {
	var first time.Time
	for _, one := range d.all {
		if one.text != nil && (first.IsZero() || one.next.Before(first)) {
			first = one.next
		}
	}
	if first.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(first.Sub(now))
	return t.C, func() { t.Stop() }
}
