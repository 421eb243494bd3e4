package record

import (
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"sibyl/internal/bt"
	"sibyl/internal/schema"
)

// space are the characters that count as blank: a text of them alone is empty, as in the schema.
const space = " \t\r\n"

// form is the JSON Schema of a session: docs/inquiry.schema.json. What it can't say, Validate checks.
var form = sync.OnceValue(func() *jsonschema.Schema {
	text := func(description, format, pattern string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: description, Format: format, Pattern: pattern}
	}
	s := schema.Published[Session](map[string]any{
		"Hypothesis": Hypothesis{}, "QuestionAnswerPair": Pair{}, "Citation": Citation{}, "GapAnalysis": GapAnalysis{},
		"Gap":         Gap{},
		"AuditResult": Audit{}, "Contradiction": Contradiction{}, "Place": Place{}, "Finding": Unverified{},
		"RemainingGap": RemainingGap{},
		"Sum":          Sum{}, "AuditTrailEntry": TrailEntry{}, "Why": bt.Why{}, "Witness": Witness{}, "Document": Document{},
	}, map[string]*jsonschema.Schema{
		"UUID": text("A UUID of version 4.", "uuid",
			"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"),
		"Time": text("A time such as 2025-10-05T14:30:22Z.", "date-time",
			`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`),
		"Text": {Type: "string", Description: "Something to read.", MinLength: jsonschema.Ptr(1),
			Pattern: `[^ \t\r\n]`},
		"Provider": text("provider:model, such as openai:gpt-4o or offline:rules.", "", `^[^: \t\r\n]+:[^ \t\r\n]+$`),
		"Why": {Type: "object", Description: "A sentence, or what is put into one.",
			Properties: map[string]*jsonschema.Schema{"why": {Type: "string", Description: "In English."},
				"why_code":   {Type: "string", Description: "Names the sentence."},
				"why_values": {Type: "object", AdditionalProperties: &jsonschema.Schema{Ref: "#/definitions/Why"}}}},
		"Hash": text("The SHA-256 of a content.", "", "^sha256:[0-9a-f]{64}$"),
	})
	s.Title = "The session of an inquiry"
	s.Description = "What a session file holds, and what an evidence page carries. Members that are not named here " +
		"are allowed. What a type can't say " +
		"(which members belong to which status, counts that agree, places of pairs that exist, times in order, the " +
		"formula of the score) is checked beside it."
	return s
})

// isUUID says whether a text is a UUID of version 4, with digits of either case.
func isUUID(id string) bool {
	u, err := uuid.Parse(id)
	return err == nil && u.Version() == 4 && u.Variant() == uuid.RFC4122 && len(id) == len(u.String())
}

// mostContradictions is how many contradictions an audit has at most.
const mostContradictions = 200
