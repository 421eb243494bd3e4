package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// published is the schema as another library has it, with formats checked.
func published(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("inquiry.schema.json", must(jsonschema.UnmarshalJSON(strings.NewReader(string(Schema()))))(t)); err != nil {
		t.Fatal(err)
	}
	return must(c.Compile("inquiry.schema.json"))(t)
}

func TestTheSchemaIsOfDraft07AndStandsAlone(t *testing.T) {
	if s := published(t); s.DraftVersion != 7 {
		t.Errorf("it is of draft %d", s.DraftVersion)
	}
	text := string(Schema())
	if text != content(t, "../../../docs/inquiry.schema.json") {
		t.Error("the program has another schema than the documents")
	}
	for part := range strings.SplitSeq(text, `"$ref": "`) {
		if ref, _, _ := strings.Cut(part, `"`); !strings.HasPrefix(part, "{") && !strings.HasPrefix(ref, "#/definitions/") {
			t.Errorf("it refers to %s", ref)
		}
	}
}

// within reports what the requirement says of a value and the schema does not.
func within(t *testing.T, path string, required, ours, whole map[string]any) {
	t.Helper()
	if ref, ok := ours["$ref"].(string); ok {
		if required["$ref"] == ref {
			return
		}
		ours = whole["definitions"].(map[string]any)[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
	}
	for key, want := range required {
		got := ours[key]
		switch key {
		case "properties":
			for name, property := range want.(map[string]any) {
				mine, there := got.(map[string]any)[name].(map[string]any)
				if !there {
					t.Errorf("%s.%s is missing", path, name)
					continue
				}
				within(t, path+"."+name, property.(map[string]any), mine, whole)
			}
		case "items":
			within(t, path+"[]", want.(map[string]any), got.(map[string]any), whole)
		default:
			if !cmp.Equal(got, want) {
				t.Errorf("%s: “%s” is %v, and the requirement says %v", path, key, got, want)
			}
		}
	}
}

func TestTheSchemaSaysAllThatTheRequirementSays(t *testing.T) {
	var required, ours map[string]any
	if err := json.Unmarshal([]byte(content(t, "testdata/requirement.schema.json")), &required); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(Schema(), &ours); err != nil {
		t.Fatal(err)
	}
	within(t, "", required, ours, ours)
}

func TestTheExamplesOfTheRequirementAreReadWrittenAndValid(t *testing.T) {
	text := content(t, "testdata/examples.json")
	s := must(Unmarshal([]byte(text)))(t)
	if s.Hypothesis.Text != "Summarize the health benefits of Vitamin B3" || s.Pairs[2].ProviderUsed != "openai:gpt-4o" || !s.Pairs[0].Timestamp.After(s.StartTime) {
		t.Errorf("it is read as %+v", s)
	}
	if broken := Check([]byte(text)); len(broken) > 0 {
		t.Errorf("it breaks %v", broken)
	}
	var want, got any
	out := must(Marshal(s))(t)
	for text, into := range map[string]*any{text: &want, string(out): &got} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it is written with another meaning: %s", diff)
	}
	for _, exact := range []string{`"2025-10-05T16:31:30+02:00"`, `1.50`, `"<b>"`, `"x-note": "kept"`} {
		if !strings.Contains(string(out), exact) {
			t.Errorf("%s is not kept", exact)
		}
	}
	s.Pairs[1].GapAnalysis.CompletenessScore = 70
	if changed := string(must(Marshal(s))(t)); !strings.Contains(changed, `"reviewer"`) || !strings.Contains(changed, `"completenessScore": 70`) {
		t.Errorf("after a change it is %s", changed)
	}
}

// value gives what is at a path such as "qaPairs/0/answer", with what it stands in.
func value(whole any, path string) (in any, last string) {
	steps := strings.Split(path, "/")
	for _, step := range steps[:len(steps)-1] {
		switch at := whole.(type) {
		case map[string]any:
			whole = at[step]
		case []any:
			whole = at[step[0]-'0']
		}
	}
	return whole, steps[len(steps)-1]
}

// mutated is the text of a session with one value changed, or removed if it is nil.
func mutated(t testing.TB, s Session, path string, to any) []byte {
	t.Helper()
	var whole any
	if err := json.Unmarshal(must(Marshal(s))(t), &whole); err != nil {
		t.Fatal(err)
	}
	switch in, last := value(whole, path); in := in.(type) {
	case map[string]any:
		if _, there := in[last]; !there && to == nil {
			t.Fatalf("%s: there is none to remove", path)
		}
		if in[last] = to; to == nil {
			delete(in, last)
		}
	case []any:
		in[last[0]-'0'] = to
	default:
		t.Fatalf("%s leads nowhere", path)
	}
	return must(json.Marshal(whole))(t)
}

// wantRejected wants a text that the schema rejects, by both libraries, and Check.
func wantRejected(t *testing.T, outside *jsonschema.Schema, what string, text []byte) {
	t.Helper()
	instance := must(jsonschema.UnmarshalJSON(strings.NewReader(string(text))))(t)
	if outside.Validate(instance) == nil {
		t.Errorf("%s: the schema takes it", what)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	if must(resolved())(t).Validate(plain) == nil {
		t.Errorf("%s: the schema takes it, as the program has it", what)
	}
	broken := Check(text)
	if len(broken) == 0 {
		t.Errorf("%s: nothing is found", what)
	}
	for _, v := range broken {
		if v.Problem == "" || v.Rule == "" {
			t.Errorf("%s: %+v says nothing", what, v)
		}
	}
}

// members lists the objects of a session with the members that they require, by paths.
func required(t *testing.T) map[string][]string {
	t.Helper()
	pair, audit := "qaPairs/1", "auditResult"
	return map[string][]string{
		"":                            {"id", "hypothesis", "startTime", "status", "iterationLimit", "currentIteration", "qaPairs", "auditTrail"},
		"hypothesis/":                 {"text", "createdAt"},
		pair + "/":                    {"sequence", "question", "answer", "timestamp", "gapAnalysis", "providerUsed"},
		pair + "/gapAnalysis/":        {"gaps", "completenessScore", "requiresFollowUp"},
		pair + "/gapAnalysis/gaps/0/": {"category", "description", "severity"},
		pair + "/citations/0/":        {"document", "hash", "page", "chunk", "chunkHash", "quote"},
		audit + "/":                   {"consistencyScore", "contradictions", "remainingGaps", "summary"},
		audit + "/contradictions/0/":  {"qaPairIndexes", "description"},
		audit + "/remainingGaps/0/":   {"category", "description"},
		audit + "/sum/":               {"base", "contradictions", "gaps", "shortfall", "score"},
		"auditTrail/0/":               {"timestamp", "event", "reason"},
		"witness/":                    {"kind", "name"},
		"witness/documents/0/":        {"name", "pages", "chunks"},
	}
}

func TestASessionWithoutARequiredMemberIsRejectedAndTheMemberNamed(t *testing.T) {
	outside := published(t)
	for in, names := range required(t) {
		for _, name := range names {
			text := mutated(t, completed(), in+name, nil)
			wantRejected(t, outside, "without "+in+name, text)
			named := slices.ContainsFunc(Check(text), func(v Violation) bool {
				return v.Rule == RuleForm && strings.HasSuffix("."+v.Path, "."+name) && v.Problem == "it is missing"
			})
			if !named {
				t.Errorf("without %s%s: it is not named in %v", in, name, Check(text))
			}
		}
	}
	both := mutated(t, completed(), "auditTrail/0", map[string]any{"event": "error"})
	if broken := Check(both); len(broken) != 2 {
		t.Errorf("of two members that are missing, this is named: %v", broken)
	}
}

func TestAValueOfAnotherTypeIsRejectedAndItsPlaceNamed(t *testing.T) {
	outside := published(t)
	var walked func(path string, is any)
	count := 0
	walked = func(path string, is any) {
		switch is := is.(type) {
		case map[string]any:
			for name, inner := range is {
				walked(strings.TrimPrefix(path+"/"+name, "/"), inner)
			}
		case []any:
			for i, inner := range is {
				if i < 10 {
					walked(fmt.Sprintf("%s/%d", path, i), inner)
				}
			}
		}
		if path == "" {
			return
		}
		for _, other := range []any{"text", 7.5, true, map[string]any{}, []any{}, json.RawMessage("null")} {
			if fmt.Sprintf("%T", other) == fmt.Sprintf("%T", is) {
				if _, isNumber := is.(float64); !isNumber || path == "auditResult/sum/shortfall" {
					continue // a number that is not whole is another type where a whole one is expected
				}
			}
			count++
			text := mutated(t, completed(), path, other)
			wantRejected(t, outside, fmt.Sprintf("%v at %s", other, path), text)
			if broken := Check(text); broken[0].Rule != RuleForm || broken[0].Path == "" {
				t.Errorf("%v at %s: %+v", other, path, broken[0])
			}
		}
	}
	var whole any
	if err := json.Unmarshal(must(Marshal(completed()))(t), &whole); err != nil {
		t.Fatal(err)
	}
	walked("", whole)
	if count < 400 {
		t.Errorf("%d values were changed", count)
	}
}

func TestTheSchemaRejectsWhatOnlyATextCanHold(t *testing.T) {
	outside := published(t)
	for name, m := range map[string]struct {
		of   Session
		path string
		to   any
	}{
		"three pairs of a contradiction":  {completed(), "auditResult/contradictions/0/qaPairIndexes", []any{0, 1, 2}},
		"one pair of a contradiction":     {completed(), "auditResult/contradictions/0/qaPairIndexes", []any{0}},
		"a third word":                    {completed(), "auditResult/contradictions/0/words", []any{"16 mg", "18 mg", "x"}},
		"a place that is no whole number": {completed(), "auditResult/contradictions/0/qaPairIndexes/0", 0.5},
		"a start without a zone":          {completed(), "startTime", "2025-10-05T14:30:22"},
		"a start with a blank":            {completed(), "startTime", "2025-10-05 14:30:22Z"},
		"a date alone":                    {completed(), "hypothesis/createdAt", "2025-10-05"},
		"the 13th month":                  {completed(), "endTime", "2025-13-05T14:30:22Z"},
		"a time in words":                 {completed(), "qaPairs/0/timestamp", "yesterday"},
		"a reason of nothing":             {running(), "endReason", ""},
		"another base":                    {completed(), "auditResult/sum/base", 99},
		"a penalty that is no ten":        {completed(), "auditResult/sum/contradictions", 15},
		"a shortfall beyond ten":          {completed(), "auditResult/sum/shortfall", 10.5},
		"an audit that is null":           {running(), "auditResult", json.RawMessage("null")},
		"an iteration below 0":            {completed(), "currentIteration", -1},
		"an iteration beyond any limit":   {completed(), "currentIteration", 21},
		"a failure without words":         {completed(), "witness/documents/1/error", ""},
	} {
		text := mutated(t, m.of, m.path, m.to)
		if name == "the 13th month" { // only libraries that check formats can tell, and reading
			if len(Check(text)) == 0 {
				t.Errorf("%s is taken", name)
			}
			continue
		}
		wantRejected(t, outside, name, text)
	}
}

func TestEveryBreachIsRejectedByTheSchemaWhereItCanTell(t *testing.T) {
	outside := published(t)
	for name, b := range breaches() {
		text := must(Marshal(b.broken()))(t)
		if b.schema {
			wantRejected(t, outside, name, text)
			continue
		}
		if err := outside.Validate(must(jsonschema.UnmarshalJSON(strings.NewReader(string(text))))(t)); err != nil {
			t.Errorf("%s: the schema can tell, and the table says that it can't: %v", name, err)
		}
	}
}

// total are the rules that the schema can tell in every case.
var total = []Rule{RuleID, RuleRunning, RuleStatus, RuleEndReason, RuleLimit, RuleAudit, RuleProvisional, RuleLanguage, RuleDetective, RuleEvent, RuleSwitch,
	RuleQuestion, RuleProvider, RuleCompleteness, RuleGap, RuleWitness, RuleScore, RuleKind, RuleDescription, RuleSummary}

func TestRulesAndSchemaAgreeOnSessionsOfAllSorts(t *testing.T) {
	outside := published(t)
	names := slices.Sorted(maps.Keys(breaches()))
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom([]func() Session{completed, running, failed, limited}).Draw(r, "of")()
		for range rapid.IntRange(0, 3).Draw(r, "breaches") {
			b := breaches()[rapid.SampledFrom(names).Draw(r, "breach")]
			if b.of == nil || s.AuditResult == nil {
				apply(b, &s)
			}
		}
		s.Language = rapid.SampledFrom([]string{"", "en", "de", "xx"}).Draw(r, "language")
		s.Status = rapid.SampledFrom([]Status{Running, Completed, Failed, LimitReached, s.Status}).Draw(r, "status")
		s.EndReason = rapid.SampledFrom([]EndReason{"", Satisfied, Limit, NoProgress, Stopped, Broken, TimedOut, s.EndReason}).Draw(r, "reason")
		text := must(Marshal(s))(t)
		err := outside.Validate(must(jsonschema.UnmarshalJSON(strings.NewReader(string(text))))(t))
		broken := s.Validate()
		if err != nil && len(broken) == 0 {
			r.Fatalf("the schema rejects what breaks no rule: %v\n%s", err, text)
		}
		if at := slices.IndexFunc(broken, func(v Violation) bool { return slices.Contains(total, v.Rule) }); at >= 0 && err == nil {
			r.Fatalf("the schema takes what breaks a rule: %s\n%s", broken[at], text)
		}
		if (len(Check(text)) > 0) != (len(broken) > 0) {
			r.Fatalf("Check finds %v, and Validate %v", Check(text), broken)
		}
	})
}

// apply breaks a rule, where there is what it breaks.
func apply(b breach, s *Session) {
	defer func() { _ = recover() }() // an audit or a pair that another breach took away
	b.change(s)
}
