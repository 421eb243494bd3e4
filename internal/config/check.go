package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Outcomes of a rule, as Rule.Outcome.
const (
	RuleHolds     = "ok"
	RuleBroken    = "wrong"
	RuleUnchecked = "unchecked" // the file can't be read, so that nothing can be said
)

// Checked is the result of checking the settings. It holds no key; invalid values in Configuration are replaced by
// defaults.
type Checked struct {
	File          string        `json:"file"` // "" where there is none
	OK            bool          `json:"ok"`
	Rules         []Rule        `json:"rules"`
	Configuration Configuration `json:"configuration"`
}

// Rule is a rule of the requirement and its outcome, under the requirement's name for it.
type Rule struct {
	Name       string      `json:"name"`
	Says       string      `json:"says"`
	Outcome    string      `json:"outcome"`         // RuleHolds, RuleBroken or RuleUnchecked
	Found      string      `json:"found,omitempty"` // what was found where it holds
	Violations []Violation `json:"violations,omitempty"`
}

// Violation is one breach of a rule.
type Violation struct {
	Setting string `json:"setting,omitempty"` // sections and name, with dots between
	Where   string `json:"where,omitempty"`   // file:line, or the variable
	Problem string `json:"problem"`
	Fix     string `json:"fix"`
}

// Check checks the settings against the rules of the Inquiry's configuration and reports all breaches at once. It
// checks only what the file and the variables name; the program chooses the rest. read gets the keys that are not in
// the environment, to check their length. The error concerns opts alone.
func Check(opts Options, read func(c Config, name string) (Secret, error)) (Checked, error) {
	path, content, err := readSettingsFile(opts)
	if path == "" && err != nil {
		return Checked{}, err
	}
	if err == nil && content == nil {
		path = ""
	}
	var e examined
	if err == nil {
		e, err = examine(path, content, opts)
	}
	if err != nil {
		return unreadable(path, err), nil
	}
	cfg, src, problems := e.cfg, e.source, e.problems
	k := &checker{cfg: cfg, source: src, broken: map[string]bool{}, Configuration: src.configuration(cfg, read)}
	for _, p := range problems {
		k.broken[p.Setting] = src.origins[p.Setting] == ""
	}
	out := Checked{File: path, OK: true, Configuration: k.Configuration}
	rules := k.rules()
	for i, r := range rules {
		of := slices.DeleteFunc(slices.Clone(problems), func(p *Problem) bool { return ruleOf(p, rules) != i })
		out.Rules = append(out.Rules, r.apply(of))
		out.OK = out.OK && out.Rules[i].Outcome == RuleHolds
	}
	var keys []Secret
	for _, d := range k.Detectives {
		keys = append(keys, d.APIKey)
	}
	redactor := cfg.Redactor(keys...)
	for _, r := range out.Rules {
		for i, v := range r.Violations {
			r.Violations[i].Problem, r.Violations[i].Fix = redactor.String(v.Problem), redactor.String(v.Fix)
		}
	}
	return out, nil
}

func unreadable(path string, err error) Checked {
	out := Checked{File: path, Configuration: Configuration{Detectives: []ProviderCredential{},
		ProviderFallbackOrder: []string{}}}
	for i, r := range (&checker{}).rules() {
		one := Rule{Name: r.name, Says: r.says, Outcome: RuleUnchecked}
		if i == 0 {
			r.fix = "fix the file; ‘sibyl config path’ says where it is"
			one = r.apply(problemsOf(err))
		}
		out.Rules = append(out.Rules, one)
	}
	return out
}

// checker holds the state of a check.
type checker struct {
	source
	Configuration
	cfg Config
	// settings with a problem of loading; true for those that hold nothing that could be checked further
	broken map[string]bool
}

type rule struct {
	name, says string
	settings   []string // a problem of loading one of them, or of something below it, breaks the rule
	fix        string   // against a problem of loading
	check      func() (found string, wrong []Violation)
}

// The bounds of the requirement.
const (
	leastKey                     = 20 // characters
	leastWait                    = 15 * time.Second
	mostCloudWait, mostLocalWait = 120 * time.Second, 360 * time.Second
)

// rules returns the rules of the requirement. The first gets the loading problems that no other rule claims.
func (k *checker) rules() []rule {
	const correct = "correct it, or remove it with ‘sibyl config unset NAME’"
	found := func(what any) func() (string, []Violation) {
		return func() (string, []Violation) { return fmt.Sprint(what), nil } // a wrong value does not load
	}
	return []rule{
		{name: "settings", says: "every setting exists and has a valid value", fix: correct,
			check: found(cmp.Or(k.path, "no settings file; using defaults"))},
		{name: "detectives", says: "at least one detective has a key, or is local", settings: []string{"providers"},
			fix: correct, check: k.checkDetectives},
		{name: "detectives[].apiKey",
			says:  fmt.Sprintf("each detective that is not local has a key of at least %d characters", leastKey),
			check: k.checkKeyLengths},
		{name: "detectives[].isDefault", says: "exactly one detective is the default", settings: []string{"model"},
			fix: "set it with ‘sibyl config set model PROVIDER:MODEL’", check: k.checkDefaultModel},
		{name: "witness.baseUrl", says: "the address of the witness is valid", settings: []string{"ollama.host"},
			fix:   "set its address with ‘sibyl config set ollama.host http://127.0.0.1:11434’",
			check: found(k.Witness.BaseURL)},
		{name: "witness.model", says: "the witness is a model on your own machines", settings: []string{inquiryWitness},
			fix: "set it with ‘sibyl config set inquiry.witness ollama:MODEL’", check: k.checkWitness},
		{name: inquiryEmbeddings,
			says:     "the model that finds passages by meaning is an embedding model, and has a key or is local",
			settings: []string{inquiryEmbeddings},
			fix:      "set it with ‘sibyl config set inquiry.embeddings ollama:MODEL’", check: k.checkEmbeddings},
		{name: "providerFallbackOrder", says: "the fallback order includes every configured detective",
			settings: []string{fallbackModels},
			fix:      "set the order with ‘sibyl config set fallback.models PROVIDER:MODEL …’", check: k.checkFallbacks},
		k.timeoutRule("timeouts.cloudTimeout", mostCloudWait, "timeouts.start", "timeouts.silence"),
		k.timeoutRule("timeouts.localTimeout", mostLocalWait, "timeouts.local_start", "timeouts.local_silence"),
		{name: "defaultIterationLimit", says: "the default limit is a whole number of questions from 5 to 20",
			settings: []string{"inquiry.limit"},
			fix:      "set one with ‘sibyl config set inquiry.limit 10’", check: found(k.cfg.Inquiry.Limit)},
	}
}

// ruleOf returns the index of the rule that a loading problem breaks.
func ruleOf(p *Problem, rules []rule) int {
	of := slices.IndexFunc(rules, func(r rule) bool {
		return slices.ContainsFunc(r.settings, func(s string) bool {
			return p.Setting == s || strings.HasPrefix(p.Setting, s+".")
		})
	})
	return max(of, 0)
}

func (r rule) apply(problems []*Problem) Rule {
	out := Rule{Name: r.name, Says: r.says, Outcome: RuleHolds}
	for _, p := range problems {
		fix := strings.Replace(r.fix, "unset NAME", "unset "+cmp.Or(p.Setting, "NAME"), 1)
		out.Violations = append(out.Violations, Violation{p.Setting, p.Where, p.Says(), fix})
	}
	found, wrong := r.check()
	if out.Violations = append(out.Violations, wrong...); len(out.Violations) > 0 {
		out.Outcome = RuleBroken
		return out
	}
	out.Found = found
	return out
}

// namedDetectives returns the detectives that the file or a variable names.
func (k *checker) namedDetectives() []ProviderCredential {
	return slices.DeleteFunc(slices.Clone(k.Detectives), func(d ProviderCredential) bool { return d.where == "" })
}

func namesOf(all []ProviderCredential) string {
	var names []string
	for _, d := range all {
		names = append(names, d.Provider)
	}
	return strings.Join(names, ", ")
}

func (k *checker) checkDetectives() (string, []Violation) {
	named := k.namedDetectives()
	hasEntry := slices.ContainsFunc(sortedNames(k.lines), func(path string) bool {
		return strings.HasPrefix(path, providersSection)
	})
	if len(named) == 0 && k.lines["providers"] > 0 && !hasEntry {
		return "", []Violation{{"providers", k.line("providers"), "names no provider",
			"add one, or remove the section with ‘sibyl config unset providers’"}}
	}
	serving := slices.DeleteFunc(slices.Clone(k.Detectives), func(d ProviderCredential) bool {
		return !d.Keyless && d.KeyFrom == ""
	})
	switch {
	case len(serving) > 0:
		return namesOf(serving), nil
	case len(named) == 0:
		return "none configured; a local model or the offline rules will be used", nil
	}
	return "", []Violation{{"providers", named[0].where, "none of the configured detectives has a key or is local: " +
		namesOf(named),
		fmt.Sprintf("store a key with ‘sibyl config set-key %s’", named[0].Provider)}}
}

func (k *checker) checkKeyLengths() (string, []Violation) {
	var wrong []Violation
	long, keyless := 0, 0
	for _, d := range k.Detectives {
		v := Violation{Setting: providersSection + d.Provider, Where: d.where}
		n := utf8.RuneCountInString(d.APIKey.Reveal())
		_, isBroken := k.broken[v.Setting] // what its key is was not settled
		switch {
		case isBroken:
			continue
		case d.Keyless:
			keyless++
			continue
		case d.keyErr != nil:
			v.Problem, v.Fix = "the key of "+d.Provider+" can't be read: "+d.keyErr.Error(),
				"make it readable, or store another with ‘sibyl config set-key "+d.Provider+"’"
		case d.KeyFrom == "":
			v.Problem, v.Fix = d.Provider+" has no key", d.source.whatIsMissing(d.Provider)
			if vendorOf(d.Provider).name == "" {
				v.Fix += fmt.Sprintf("; if that endpoint is on your own machines: ‘sibyl config set "+
					"providers.%s.local true’", d.Provider)
			}
		case n < leastKey:
			v.Problem = fmt.Sprintf("the key of %s has %d characters; at least %d are required",
				d.Provider, n, leastKey)
			v.Fix = "check that all of it was copied; it comes from the " + d.KeyFrom
		default:
			long++
			continue
		}
		wrong = append(wrong, v)
	}
	switch {
	case long == 0 && keyless > 0:
		return "none needed", wrong
	case keyless == 0:
		return fmt.Sprintf("%d set", long), wrong
	}
	return fmt.Sprintf("%d set, %d not needed", long, keyless), wrong
}

func (k *checker) checkDefaultModel() (string, []Violation) {
	named := k.namedDetectives()
	wanted, _ := k.cfg.providerOfModel(k.cfg.Model)
	v := Violation{Setting: "model", Where: k.origins["model"],
		Fix: "name one with ‘sibyl config set model PROVIDER:MODEL’"}
	switch {
	case k.broken["model"]:
		return "", nil
	case slices.ContainsFunc(k.Detectives, func(d ProviderCredential) bool { return d.IsDefault }):
		return k.cfg.Model, nil
	case wanted != "":
		v.Problem = fmt.Sprintf("there is no provider %s%s", quote(wanted),
			DidYouMean(wanted, append(k.cfg.providerNames(), offlineName)))
		return "", []Violation{v}
	case len(named) == 0:
		return "none configured; the first one available is used", nil
	case len(k.Detectives) == 1 && named[0].taken:
		return named[0].Provider + ", the only one", nil
	case len(k.Detectives) == 1:
		v.Problem = fmt.Sprintf("model is not set, and %s is not used by default", named[0].Provider)
	default:
		v.Problem = "model is not set, and it is unclear which model is the default of " + namesOf(k.Detectives)
	}
	v.Where = named[0].where
	return "", []Violation{v}
}

func (k *checker) checkWitness() (string, []Violation) {
	id := k.cfg.Inquiry.Witness
	_, p := k.cfg.providerOfModel(id)
	switch {
	case id == "":
		return "none is set; an inquiry needs --witness", nil
	case p.Local || p.Kind == KindOllama:
		return id, nil
	}
	return "", []Violation{{inquiryWitness, k.origins[inquiryWitness], "inquiry.witness is " + id + ", a hosted model",
		"name a local one with ‘sibyl config set inquiry.witness ollama:MODEL’; a " +
			"hosted one can still be given with --witness"}}
}

func (k *checker) checkEmbeddings() (string, []Violation) {
	id := k.cfg.Inquiry.Embeddings
	name, p := k.cfg.providerOfModel(id)
	switch {
	case id == "":
		return "none is set; documents are searched by words", nil
	case !p.Local && p.Kind != KindOllama && !p.isPresent():
		return "", []Violation{{inquiryEmbeddings, k.origins[inquiryEmbeddings], name + " has no key",
			fmt.Sprintf("store one with ‘sibyl config set-key %s’, or choose another model", name)}}
	case k.cfg.EmbeddingsAway():
		return id + "; passages and questions are sent off your machines", nil
	}
	return id, nil
}

// checkFallbacks checks that fallback.models has a model of each of the Inquiry's providers, if they are several.
func (k *checker) checkFallbacks() (string, []Violation) {
	if k.broken[fallbackModels] {
		return "", nil
	}
	// which never stand in
	named := slices.DeleteFunc(k.namedDetectives(), func(d ProviderCredential) bool { return d.Provider == offlineName })
	if len(k.ProviderFallbackOrder) == 0 && len(named) < 2 {
		return "none is set, and a single detective needs none", nil
	}
	var wrong []Violation
	order := slices.Clone(k.cfg.Fallback.Models)
	for _, d := range named {
		if !slices.Contains(k.ProviderFallbackOrder, d.Provider) {
			order = append(order, d.Provider+":"+cmp.Or(d.Model, "MODEL"))
			wrong = append(wrong, Violation{Setting: fallbackModels, Where: cmp.Or(k.origins[fallbackModels], d.where),
				Problem: "fallback.models has no model of " + d.Provider})
		}
	}
	for i := range wrong {
		wrong[i].Fix = "‘sibyl config set fallback.models " + strings.Join(order, " ") + "’, in the order you want"
	}
	return strings.Join(k.ProviderFallbackOrder, ", "), wrong
}

// timeoutRule makes the rule for timeouts until an answer begins and between its parts. Unset ones are not checked.
func (k *checker) timeoutRule(name string, most time.Duration, paths ...string) rule {
	says := fmt.Sprintf("%s, if set, are whole seconds from %d to %d", strings.Join(paths, " and "),
		int(leastWait.Seconds()), int(most.Seconds()))
	checkAll := func() (found string, wrong []Violation) {
		var all []string
		for _, path := range paths {
			text := k.cfg.Text(path)
			if k.origins[path] == "" {
				all = append(all, fmt.Sprintf("%s is not set (%s)", path, text))
				continue
			}
			all = append(all, fmt.Sprintf("%s is %s", path, text))
			d, err := time.ParseDuration(text)
			if err == nil && d >= leastWait && d <= most && d%time.Second == 0 {
				continue
			}
			wrong = append(wrong, Violation{path, k.origins[path],
				fmt.Sprintf("%s is %s, which is not whole seconds from %s to %s", path, text, leastWait, most),
				fmt.Sprintf("‘sibyl config set %s %s’", path, max(leastWait, min(most, d.Round(time.Second))))})
		}
		return strings.Join(all, ", "), wrong
	}
	return rule{name: name, says: says, settings: paths, fix: fmt.Sprintf("set it within %s and %s", leastWait, most),
		check: checkAll}
}
