package inquiry

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// shortest and longest are how many pairs an interview may have.
const (
	shortest = 3
	longest  = 8
)

func (c Case) check() error {
	switch {
	case !slices.Contains(Languages(), c.Lang):
		return fmt.Errorf(`"lang" is %q; it must be one of %v`, c.Lang, Languages())
	case c.Hypothesis == "" || c.About == "" || c.Domain == "":
		return errors.New(`"hypothesis", "about" or "domain" is empty`)
	case len(c.Pairs) < shortest || len(c.Pairs) > longest:
		return fmt.Errorf(`"pairs" has %d; an interview has %d to %d`, len(c.Pairs), shortest, longest)
	case c.Frozen != c.FrozenBy():
		return fmt.Errorf(`"frozen" is %t, the hash of what is said says %t`, c.Frozen, c.FrozenBy())
	case c.Flawless && (slices.ContainsFunc(c.Gaps, func(g GapLabel) bool { return !g.Optional && g.Closed == 0 }) || len(c.Contradictions) > 0):
		return errors.New(`"flawless" is true, but there are gaps or contradictions`)
	case !c.Flawless && len(c.Gaps)+len(c.Contradictions)+len(c.Traps) == 0:
		return errors.New("nothing is planted, and it is not marked as flawless")
	}
	for i, p := range c.Pairs {
		if strings.TrimSpace(p.Question) == "" || strings.TrimSpace(p.Answer) == "" {
			return fmt.Errorf("pair %d: the question or the answer is empty", i)
		}
	}
	return errors.Join(c.checkLabels(), c.checkWitness())
}

func (c Case) checkLabels() error {
	for i, g := range c.Gaps {
		if err := c.checkGap(g); err != nil {
			return fmt.Errorf("gaps[%d]: %w", i, err)
		}
	}
	for i, l := range c.Contradictions {
		if err := c.checkClash(l.Pairs, l.Words, l.Kind, ClashKinds()); err != nil {
			return fmt.Errorf("contradictions[%d]: %w", i, err)
		}
		if err := within("then", l.Then, Reactions()); err != nil {
			return fmt.Errorf("contradictions[%d]: %w", i, err)
		}
		if l.Reply == "" || l.Standing != 0 && (l.Standing <= l.Pairs[1] || l.Standing >= len(c.Pairs)) {
			return fmt.Errorf(`contradictions[%d]: "reply" is empty, or "standing" is %d, which is no later pair`, i, l.Standing)
		}
	}
	for i, l := range c.Traps {
		if err := c.checkClash(l.Pairs, l.Words, l.Kind, TrapKinds()); err != nil {
			return fmt.Errorf("traps[%d]: %w", i, err)
		}
		if l.Reply == "" {
			return fmt.Errorf(`traps[%d]: "reply" is empty`, i)
		}
	}
	return nil
}

func within(name, value string, allowed []string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("%q is %q; it must be one of %v", name, value, allowed)
	}
	return nil
}

func (c Case) checkGap(g GapLabel) error {
	switch {
	case g.Pair < Anywhere || g.Pair >= len(c.Pairs):
		return fmt.Errorf(`"pair" is %d; there are %d`, g.Pair, len(c.Pairs))
	case g.Closed != 0 && (g.Closed <= g.Pair || g.Closed >= len(c.Pairs)):
		return fmt.Errorf(`"closed" is %d, which is no later pair`, g.Closed)
	case len(g.Category) == 0:
		return errors.New(`"category" is missing`)
	case g.Pair == Anywhere && len(g.Aspect) == 0:
		return errors.New(`a gap of the whole interview needs an "aspect"`)
	}
	for _, category := range g.Category {
		if err := within("category", category, Categories()); err != nil {
			return err
		}
	}
	for _, aspect := range g.Aspect {
		if err := within("aspect", aspect, Aspects()); err != nil {
			return err
		}
	}
	return within("severity", g.Severity, Severities())
}

func (c Case) checkClash(pairs [2]int, words [2]string, kind string, kinds []string) error {
	if pairs[0] < 0 || pairs[0] >= pairs[1] || pairs[1] >= len(c.Pairs) {
		return fmt.Errorf(`"pairs" is %v; both must exist, the earlier first`, pairs)
	}
	for i, at := range pairs {
		if words[i] == "" || !strings.Contains(c.Pairs[at].Answer, words[i]) {
			return fmt.Errorf("“%s” does not stand in the answer of pair %d", words[i], at)
		}
	}
	return within("kind", kind, kinds)
}

func (c Case) checkWitness() error {
	if c.Witness.Otherwise == "" || len(c.Witness.Facts) < shortest {
		return errors.New(`witness: "otherwise" is empty, or there are hardly any facts`)
	}
	for i, f := range c.Witness.Facts {
		if f.Pair < OwnAnswer || f.Pair >= len(c.Pairs) || (f.Pair == OwnAnswer) == (f.Answer == "") {
			return fmt.Errorf(`witness: facts[%d]: "pair" must exist, or be %d beside an "answer"`, i, OwnAnswer)
		}
		if len(f.Kind) == 0 || len(f.About) == 0 {
			return fmt.Errorf(`witness: facts[%d]: "kind" or "about" is empty`, i)
		}
		for _, kind := range f.Kind {
			if err := within("kind", kind, append(Aspects(), whether)); err != nil {
				return fmt.Errorf("witness: facts[%d]: %w", i, err)
			}
		}
	}
	for _, pairs := range c.clashing() {
		for _, at := range pairs {
			if !slices.ContainsFunc(c.Witness.Facts, func(f Fact) bool { return f.Pair == at }) {
				return fmt.Errorf("witness: pair %d is part of a clash, and no fact has its answer", at)
			}
		}
	}
	return nil
}

// clashing are the pairs of all contradictions and traps.
func (c Case) clashing() (all [][2]int) {
	for _, l := range c.Contradictions {
		all = append(all, l.Pairs)
	}
	for _, l := range c.Traps {
		all = append(all, l.Pairs)
	}
	return all
}
