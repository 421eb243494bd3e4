package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/journal"
	"sibyl/internal/run/audit"
	"sibyl/internal/service"
)

// Runs is a part of the list of runs, the latest first.
type Runs struct {
	Runs []service.Row `json:"runs"`
	Next string        `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// Branch is a part of the list of runs of a branch, the latest first.
type Branch struct {
	Runs []service.BranchRow `json:"runs"`
	Next string              `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// RunWithResult is a run with what came of it.
type RunWithResult struct {
	service.Row
	Result *service.Result `json:"result,omitempty" doc:"Once it has ended."`
	service.Prospect
}

// Results are runs with what came of them.
type Results struct {
	Runs []RunWithResult `json:"runs" doc:"In the order in which they were asked for."`
}

// Sessions is a part of the list of sessions, the last used first.
type Sessions struct {
	Sessions []journal.Session `json:"sessions"`
	Next     string            `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// RunAudit is the audit of a run with a schema for the API: its JSON comes from a method.
type RunAudit struct{ service.RunAudit }

// Schema implements huma.SchemaProvider. It describes what audits of all assistants have; each adds its own findings.
func (a RunAudit) Schema(r huma.Registry) *huma.Schema {
	const name = "RunAudit"
	of := func(form reflect.Type, property string) *huma.Schema {
		return r.Schema(form, false, "").Properties[property]
	}
	s := huma.SchemaFromType(r, reflect.TypeOf(a.Run))
	s.AdditionalProperties = true
	s.Properties["status"] = of(reflect.TypeFor[service.Row](), "status")
	of(reflect.TypeFor[audit.End](), "status").Enum = s.Properties["status"].Enum
	of(reflect.TypeFor[audit.Decision](), "status").Enum = of(reflect.TypeFor[service.Event](), "status").Enum
	of(reflect.TypeFor[audit.Effect](), "state").Enum = []any{audit.OK, audit.Failed, audit.Found, audit.Withdrawn,
		audit.Unknown, audit.UnderWay}
	*of(reflect.TypeFor[audit.Effect](), "detail") = *r.Schema(reflect.TypeFor[json.RawMessage](), true, "")
	r.Map()[name] = s
	return &huma.Schema{Ref: schemasRef + name}
}

// toForms makes the forms of all values in a list. The list is never null.
func toForms[T, F any](all []T, form func(T) F) []F {
	out := make([]F, len(all))
	for i, one := range all {
		out[i] = form(one)
	}
	return out
}

// schemaName names a schema of the description: as clients know it, or with its package before the name of its type.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name := schemaNames()[t.String()]; name != "" {
		return name
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if t.Kind() != reflect.Struct || t.PkgPath() == reflect.TypeFor[Me]().PkgPath() {
		return name
	}
	_, room, _ := strings.Cut(t.PkgPath(), "/internal/")
	for _, named := range []struct{ room, prefix string }{{"council", "Council"}, {"inquiry", "Inquiry"},
		{"taskchat", "Chat"}, {"run/audit", "Audited"}} {
		if room == named.room || strings.HasPrefix(room, named.room+"/") {
			return named.prefix + name
		}
	}
	return name
}

// schemaNames are the types that clients know by other names.
func schemaNames() map[string]string {
	return map[string]string{
		"service.Row": "Run", "inquiry.Session": "ShownInquiry",
		"inquiry.Listed": "InquiryItem", "service.SessionAudit": "Audit",
		"run.RequestedEffect": "Effect", "service.Used": "TurnCost",
		"assistant.Usage": "Tokens", "journal.Count": "RunCount", "task.Change": "TaskChange",
		"agent.Writes":   "AgentWrites",
		"council.Opened": "CouncilSession", "session.AudioEntry": "CouncilEntry", "session.LlmEntry": "CouncilAnswer",
		"session.ContextSnapshot": "CouncilSnapshot", "prompt.Entry": "CouncilSaid",
		"persona.Persona": "CouncilOracle", "persona.Listing": "CouncilOracles",
		"persona.Skipped": "CouncilSkippedOracle", "council.Skipped": "CouncilLeftOut",
		"council.Preview": "CouncilPrompt", "record.Checked": "InquiryCheck",
		"record.Pair": "InquiryQuestionAnswerPair", "record.Audit": "InquiryAuditResult",
		"record.TrailEntry":      "InquiryAuditTrailEntry",
		"taskchat.AgentResponse": "ChatResponse", "taskchat.IntentResult": "ChatIntent",
		"taskchat.AgentContext": "ChatContext", "taskchat.Item": "ChatTask", "bt.Problem": "TreeProblem",
		"bt.Setting":   "TreeSetting",
		"replay.Group": "ReplayedGroup", "replay.Place": "ReplayedPlace", "agent.Unwritten": "AgentUnwritten",
		"search.Span": "Marked",
	}
}

// publicValue is a value as it leaves this machine: without fields that are tagged hidden, with lists that are never
// null, and with each text as tell gives it, which hides folders of this machine. A type with MarshalJSON is unchanged.
func publicValue(v reflect.Value, tell func(string) string) reflect.Value {
	t := v.Type()
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return v
	}
	switch {
	case t.Kind() == reflect.String && tell != nil:
		told := reflect.New(t).Elem()
		told.SetString(tell(v.String()))
		return told
	case t.Kind() == reflect.Pointer && !v.IsNil():
		copied := reflect.New(t.Elem())
		copied.Elem().Set(publicValue(v.Elem(), tell))
		return copied
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		all := reflect.MakeSlice(t, v.Len(), v.Len())
		for i := range v.Len() {
			all.Index(i).Set(publicValue(v.Index(i), tell))
		}
		return all
	case t.Kind() == reflect.Map && !v.IsNil():
		all := reflect.MakeMapWithSize(t, v.Len())
		for of := v.MapRange(); of.Next(); {
			all.SetMapIndex(of.Key(), publicValue(of.Value(), tell))
		}
		return all
	case t.Kind() == reflect.Struct:
		copied := reflect.New(t).Elem()
		copied.Set(v)
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case !f.IsExported():
			case f.Tag.Get("hidden") != "":
				copied.Field(i).SetZero()
			default:
				copied.Field(i).Set(publicValue(v.Field(i), tell))
			}
		}
		return copied
	}
	return v
}

// publicJSON is publicValue as JSON.
func publicJSON(value any, tell func(string) string) ([]byte, error) {
	return json.Marshal(publicValue(reflect.ValueOf(value), tell).Interface())
}

// folderRemover makes a function that takes these folders out of a text. Files in them keep their names.
func folderRemover(folders ...string) func(text string) string {
	// an inner folder before those that hold it
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var told []string
	for _, folder := range folders {
		told = append(told, folder+string(filepath.Separator), "", folder, fmt.Sprintf("the folder “%s”",
			filepath.Base(folder)))
	}
	return strings.NewReplacer(told...).Replace
}
