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
// listStands is how old a kept list may be for a name that is not exactly in it.
const (
	namingTime = 2 * time.Second
	listStands = time.Hour
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
	fitsWhole   nameFit = iota // it is the name
	fitsLast                   // it is the part behind the last slash
	fitsStart                  // the name begins with it
	fitsPart                   // it is a part of the name
	fitsPartial                // a part of the name begins with it
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
	return best
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

// byName finds a model that is named without its provider, among what the providers that are set up list. Lists that
// were kept are read first: the providers are asked only if those don't settle it, and for a short time.
func (c Catalog) byName(ctx context.Context, wanted string) (id string, err error) {
	kept := c.keptLists()
	ids, fit := fitting(kept, wanted)
	isOld := slices.ContainsFunc(kept, func(l modelList) bool { return time.Since(l.at) > listStands })
	if fit > fitsWhole && (len(ids) == 0 || isOld) {
		kept = c.askLists(ctx)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		ids, _ = fitting(kept, wanted)
	}
	switch len(ids) {
	case 0:
		return "", c.unknownName(wanted, kept)
	case 1:
		return ids[0], nil
	}
	return "", &AmbiguousModelError{Name: wanted, Models: ids}
}

// Find is Choose for a name that is to be kept: that of a provider alone stays as it is, and of a model whose provider
// lists its models in a short time, it is an error if that one is not among them.
func (c Catalog) Find(ctx context.Context, wanted string) (id string, err error) {
	provider, name := SplitID(wanted)
	if !c.has(provider) {
		return c.byName(ctx, wanted)
	}
	p, _, err := c.providerOf(wanted)
	if err != nil || name == "" || name == p.Default {
		return wanted, err
	}
	for _, l := range (Catalog{p}).askLists(ctx) {
		all := slices.Clone(l.names)
		if l.err == nil && !slices.ContainsFunc(all, func(n string) bool { return n == name || n == name+latestTag }) {
			return "", fmt.Errorf("%s lists no model %s: ‘sibyl models’ shows what it has", p.Name, name)
		}
	}
	return wanted, nil
}

// keptLists are the lists that providers gave before, of those that are set up.
func (c Catalog) keptLists() (all []modelList) {
	for _, p := range c {
		if p.Missing != "" || p.Listed == nil {
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
	for _, p := range c {
		if p.Missing != "" {
			continue
		}
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
	if provider, name := SplitID(wanted); name != "" {
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
