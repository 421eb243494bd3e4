package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// namingTime bounds how long the providers are asked for their lists when a model is named without its provider.
// mostListAge is how old a kept list may be for a name that is not exactly in it.
const (
	namingTime  = 2 * time.Second
	mostListAge = time.Hour
)

// AmbiguousModelError says that a name without a provider fits several models.
type AmbiguousModelError struct {
	Name   string
	Models []string // at least two, as provider:model
}

// Error lists a few of the models.
func (e *AmbiguousModelError) Error() string {
	const few = 8
	some := strings.Join(e.Models[:min(few, len(e.Models))], ", ")
	if len(e.Models) > few {
		some += ", …"
	}
	return fmt.Sprintf("%q fits %d models: %s. Name one of them in full", e.Name, len(e.Models), some)
}

// nameFit says how well a model's name fits what was asked for: the less, the better.
type nameFit int

// The ways in which a name fits. The parts of a name are its runs of letters and digits.
const (
	fitsWhole    nameFit = iota // it is the name
	fitsLast                    // it is the part behind the last slash
	fitsStart                   // the name begins with it
	fitsPart                    // it is a part of the name
	fitsPartial                 // a part of the name begins with it
	fitsRun                     // the name is the same without what divides its parts
	fitsRunStart                // it begins so
	fitsNot
)

// latestTag is what Ollama adds to a name without a tag.
const latestTag = ":latest"

// fitOf says how well name fits wanted. Case does not count, nor which of . - _ stands between two parts.
func fitOf(name, wanted string) nameFit {
	same := strings.NewReplacer(".", "-", "_", "-")
	name, wanted = same.Replace(strings.ToLower(name)), same.Replace(strings.ToLower(wanted))
	last := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case wanted == "":
		return fitsNot
	case name == wanted || name == wanted+latestTag:
		return fitsWhole
	case last == wanted || last == wanted+latestTag:
		return fitsLast
	}
	best := fitsNot
	for at := 0; at < len(name); at++ {
		if !strings.HasPrefix(name[at:], wanted) || at > 0 && isNamePart(name[at-1]) {
			continue
		}
		end := at + len(wanted)
		switch whole := end == len(name) || !isNamePart(name[end]); {
		case whole && at == 0:
			best = min(best, fitsStart)
		case whole:
			best = min(best, fitsPart)
		default:
			best = min(best, fitsPartial)
		}
	}
	const leastRun = 3 // letters
	run := strings.ReplaceAll(last, "-", "")
	switch {
	case best < fitsNot || strings.Contains(wanted, "-") || len(wanted) < leastRun || !strings.HasPrefix(run, wanted):
		return best
	case run == wanted || run == wanted+latestTag:
		return fitsRun
	}
	return fitsRunStart
}

// NameFits reports whether a name is meant by what was typed: it is the name, or a part of it begins so.
func NameFits(name, typed string) bool { return fitOf(name, typed) < fitsNot }

func isNamePart(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0x80 }

// modelList is what one provider lists.
type modelList struct {
	Provider
	names []string
	at    time.Time // when it told; the zero time: just now
	err   error     // why it did not tell
}

// fitting are the models of the lists that fit a name best, as provider:model. If these are all hosted, local ones that
// fit less well count too, so that no question leaves the machine by a short name; a whole name is always meant.
func fitting(lists []modelList, wanted string) (ids []string, best nameFit) {
	best = fitsNot
	bestLocal := fitsNot
	for _, l := range lists {
		for _, name := range l.names {
			fit := fitOf(name, wanted)
			best = min(best, fit)
			if l.Local {
				bestLocal = min(bestLocal, fit)
			}
		}
	}
	if best == fitsNot {
		return nil, best
	}
	for _, l := range lists {
		var names []string
		for _, name := range l.names {
			fit := fitOf(name, wanted)
			if fit == best || best > fitsWhole && l.Local && fit == bestLocal && fit < fitsNot {
				names = append(names, name)
			}
		}
		for _, name := range names {
			if id := l.Name + ":" + name; !isDated(name, names) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, best
}

// isDated reports whether a name is another of the names with a date or “latest” behind it.
func isDated(name string, names []string) bool {
	return slices.ContainsFunc(names, func(other string) bool {
		rest, longer := strings.CutPrefix(name, other+"-")
		return longer && (rest == "latest" || len(rest) >= len("20250929") && strings.Trim(rest, "0123456789-") == "")
	})
}

// byName finds a model that is named without its provider, among what the providers that are set up list. Those of this
// machine come first: where one has exactly that name, no other is asked, and none is meant. Of the others, lists that
// were kept are read first: they are asked only if those don't settle it, and for a short time.
func (c Catalog) byName(ctx context.Context, wanted string) (id string, err error) {
	var own, hosted Catalog
	for _, p := range c {
		if p.Local {
			own = append(own, p)
		} else {
			hosted = append(hosted, p)
		}
	}
	lists := own.keptLists()
	ids, fit := fitting(lists, wanted)
	if fit > fitsWhole {
		lists = own.askLists(ctx)
		ids, fit = fitting(lists, wanted)
	}
	if fit > fitsWhole {
		fresh := hosted.keptLists()
		ids, fit = fitting(slices.Concat(lists, fresh), wanted)
		if fit > fitsWhole {
			isOld := func(l modelList) bool { return len(ids) == 0 || time.Since(l.at) > mostListAge }
			fresh = slices.DeleteFunc(fresh, isOld)
			lists = slices.Concat(lists, fresh, hosted.without(fresh).askLists(ctx))
			ids, _ = fitting(lists, wanted)
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case len(ids) == 0:
		return "", c.unknownName(wanted, lists)
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", &AmbiguousModelError{Name: wanted, Models: ids}
}

// named finds what a text names: a model, or a provider alone that is set up. A text that begins as one of a provider
// names a model of another provider if only that one has a model of this whole name, as Ollama has mistral:7b beside a
// provider mistral; and if the provider is not set up.
func (c Catalog) named(ctx context.Context, wanted string) (id string, err error) {
	p, name, err := c.providerOf(wanted)
	switch {
	case !c.has(p.Name):
		return c.byName(ctx, wanted)
	case err != nil:
		other, found := c.byName(ctx, wanted)
		best := other
		if several, is := errors.AsType[*AmbiguousModelError](found); is {
			best = several.Models[0]
		}
		if best == "" || name != "" && fitOf(modelOf(best), wanted) > fitsLast {
			return "", err
		}
		return other, found
	case name == "" || name == p.Default || p.Local:
		return wanted, nil
	}
	if kept := (Catalog{p}).keptLists(); len(kept) > 0 && kept[0].has(name) {
		return wanted, nil
	}
	return c.elsewhere(ctx, p, wanted)
}

// elsewhere returns wanted, or the id of a model of another provider than p that has it for its whole name.
func (c Catalog) elsewhere(ctx context.Context, p Provider, wanted string) (id string, err error) {
	others := c.without([]modelList{{Provider: p}})
	lists := others.keptLists()
	silent := slices.DeleteFunc(others.without(lists), func(other Provider) bool { return !other.Local })
	shortly, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	switch ids, fit := fitting(append(silent.askLists(shortly), lists...), wanted); {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case fit > fitsWhole:
		return wanted, nil
	case len(ids) == 1:
		return ids[0], nil
	default:
		return "", &AmbiguousModelError{Name: wanted, Models: ids}
	}
}

// setUp are the providers that can be asked.
func (c Catalog) setUp() Catalog {
	return slices.DeleteFunc(slices.Clone(c), func(p Provider) bool { return p.Missing != "" })
}

// without are the providers that have none of the lists.
func (c Catalog) without(lists []modelList) Catalog {
	return slices.DeleteFunc(slices.Clone(c), func(p Provider) bool {
		return slices.ContainsFunc(lists, func(l modelList) bool { return l.Name == p.Name })
	})
}

func modelOf(id string) string {
	_, name := SplitID(id)
	return name
}

// Find is Choose for a name that is to be kept: that of a provider alone stays as it is, and of a model whose provider
// lists its models in a short time, it is an error if that one is not among them.
func (c Catalog) Find(ctx context.Context, wanted string) (id string, err error) {
	if id, err = c.named(ctx, wanted); err != nil {
		return "", err
	}
	p, name, err := c.providerOf(id)
	if err != nil || name == "" || name == p.Default {
		return id, err
	}
	for _, l := range (Catalog{p}).askLists(ctx) {
		if l.err == nil && !l.has(name) {
			return "", fmt.Errorf("%s lists no model %s: ‘sibyl models’ shows what it has", p.Name, name)
		}
	}
	return id, nil
}

// has reports whether a model of that name is listed.
func (l modelList) has(name string) bool {
	return slices.Contains(l.names, name) || slices.Contains(l.names, name+latestTag)
}

// keptLists are the lists that providers gave before, of those that are set up.
func (c Catalog) keptLists() (all []modelList) {
	for _, p := range c.setUp() {
		if p.Listed == nil {
			continue
		}
		if names, at := p.Listed(); !at.IsZero() {
			all = append(all, modelList{Provider: p, names: p.chatting(names), at: at})
		}
	}
	return all
}

// askLists asks all providers that are set up at the same time. One that does not answer in time has the list that it
// gave before.
func (c Catalog) askLists(ctx context.Context) (all []modelList) {
	ctx, cancel := context.WithTimeout(ctx, namingTime)
	defer cancel()
	told := make([]chan modelList, 0, len(c))
	for _, p := range c.setUp() {
		one := make(chan modelList, 1)
		told = append(told, one)
		all = append(all, modelList{Provider: p, err: context.DeadlineExceeded})
		go func() { // a command for a key that takes longer is left behind
			names, err := p.List(ctx)
			one <- modelList{Provider: p, names: names, err: err}
		}()
	}
	for i, one := range told {
		select {
		case all[i] = <-one:
		case <-ctx.Done():
		}
		l := &all[i]
		if l.err != nil && l.Listed != nil {
			l.names, l.at = l.Listed()
		}
		if l.Default != "" && !slices.Contains(l.names, l.Default) {
			l.names = append(slices.Clone(l.names), l.Default)
		}
		l.names = l.chatting(l.names)
	}
	return all
}

// chatting are the names of models that may chat.
func (p Provider) chatting(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !mayChat(name, p.Local) })
}

// unknownName is the error that no provider lists a model of a name. It names those that could not be asked.
func (c Catalog) unknownName(wanted string, lists []modelList) error {
	var names, absent, silent []string
	for _, p := range c {
		names = append(names, p.Name)
		if p.Missing != "" {
			absent = append(absent, p.Name)
		}
	}
	for _, l := range lists {
		if l.err != nil {
			silent = append(silent, l.Name)
		}
	}
	text := fmt.Sprintf("no model is called %q: ‘sibyl models’ lists those that are there", wanted)
	if provider, name := SplitID(wanted); name != "" && !strings.Contains(provider, "/") {
		text = fmt.Sprintf("there is no provider %q, and no model is called %q: write provider:model, with one of %s; "+
			"‘sibyl models’ lists the models", provider, wanted, strings.Join(names, ", "))
	}
	if absent != nil {
		text += "; not set up: " + strings.Join(absent, ", ")
	}
	if silent != nil {
		text += "; not reached: " + strings.Join(silent, ", ")
	}
	return errors.New(text)
}
