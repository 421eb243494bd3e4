package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/model"
)

// refusal is what a server says to a schema.
func refusal(status int, message string) Answer {
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message}}) // texts always encode
	return Answer{Raw: &Raw{Status: status, Body: string(body)}}
}

func TestRefusedSchemaLeadsInStepsToARequestThatIsTakenAndIsRemembered(t *testing.T) {
	bounded := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","minimum":3,"const":"zz"},` +
		`"n":{"type":"integer","minimum":7777,"maxItems":77}}}`)
	ask := func() model.Request {
		req := question()
		req.Tools = []model.Tool{{Name: "look_up", Schema: bounded}, {Name: "odd_one", Schema: bounded}}
		req.Schema = &model.Schema{Name: "x", JSON: bounded}
		return req
	}
	for name, build := range adapters() {
		for shape, c := range map[string]struct {
			says   []Answer
			gone   []string // words of the first request that the last has not
			stays  []string
			leaves []string // the tools that are left out
		}{
			"a grammar": {[]Answer{refusal(400, "Failed to initialize samplers: failed to parse grammar")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"a grammar, as a failure": {[]Answer{refusal(500, "The provided JSON schema contains features not supported by xgrammar.")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"a tool by its name": {[]Answer{refusal(400, "Invalid schema for function 'odd_one': 'zz' is odd"),
				refusal(400, "Invalid schema for function 'odd_one': 'zz' is odd")},
				[]string{"maxItems", "odd_one"}, []string{"look_up"}, []string{"odd_one"}},
			"a tool by its place": {[]Answer{refusal(422, "tools.1.custom.input_schema: bad"),
				refusal(422, "tools.1.custom.input_schema: bad")}, []string{"odd_one"}, []string{"look_up"},
				[]string{"odd_one"}},
			"tools as such, by Ollama": {[]Answer{refusal(400, "registry.ollama.ai/library/tiny:latest does not support tools")},
				[]string{"odd_one", "look_up"}, nil, []string{"look_up", "odd_one"}},
			"tools as such, by vLLM": {[]Answer{refusal(400, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`)},
				[]string{"odd_one", "look_up"}, nil, []string{"look_up", "odd_one"}},
			"tools as such, by llama.cpp": {[]Answer{refusal(500, "tools param requires --jinja flag")},
				[]string{"odd_one", "look_up"}, nil, []string{"look_up", "odd_one"}},
			"tools as such, by OpenRouter": {[]Answer{refusal(404, "No endpoints found that support tool use. To learn more about provider routing, visit: docs")},
				[]string{"odd_one", "look_up"}, nil, []string{"look_up", "odd_one"}},
			"a grammar of a format, by xgrammar": {[]Answer{refusal(400, "Grammar error: Unknown format: uri")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"keywords, by Cerebras": {[]Answer{refusal(400, "Unsupported JSON schema fields: {'maxItems', 'minimum'}")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"a keyword, by Groq": {[]Answer{refusal(400, "invalid schema for response format: response_format/json_schema/x: maxItems is not supported")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"a keyword, by Vertex": {[]Answer{refusal(501, "Unable to submit request because one or more response schemas specified unsupported field max_items.")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"properties, by Anthropic": {[]Answer{refusal(400, "output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"a place in the list, by Gemini": {[]Answer{
				refusal(400, "Invalid JSON payload received. Unknown name \"type\" at 'tools[0].function_declarations[1].parameters.properties[0].value': Proto field is not repeating, cannot start list."),
				refusal(400, "Invalid JSON payload received. Unknown name \"type\" at 'tools[0].function_declarations[1].parameters.properties[0].value': Proto field is not repeating, cannot start list.")},
				[]string{"odd_one"}, []string{"look_up"}, []string{"odd_one"}},
			"a value of an enum, by Gemini": {[]Answer{
				refusal(400, "Invalid value at 'tools.function_declarations[1].parameters.properties[1].value.enum[0]' (TYPE_STRING), true"),
				refusal(400, "Invalid value at 'tools.function_declarations[1].parameters.properties[1].value.enum[0]' (TYPE_STRING), true")},
				[]string{"odd_one"}, []string{"look_up"}, []string{"odd_one"}},
			"a name, by Gemini": {[]Answer{
				refusal(400, "* GenerateContentRequest.tools[0].function_declarations[1].name: Invalid function name. Must start with a letter or an underscore."),
				refusal(400, "* GenerateContentRequest.tools[0].function_declarations[1].name: Invalid function name. Must start with a letter or an underscore.")},
				[]string{"odd_one"}, []string{"look_up"}, []string{"odd_one"}},
			"objects that are open, by Cerebras": {[]Answer{refusal(422, "'additionalProperties' is required to be supplied and set to false."),
				refusal(422, "'additionalProperties' is required to be supplied and set to false.")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
			"the form": {[]Answer{refusal(400, "guided decoding: regex too large"), refusal(400, "guided decoding: regex too large")},
				[]string{"maxItems"}, []string{"look_up", "odd_one"}, nil},
		} {
			t.Run(name+"/"+shape, func(t *testing.T) {
				m, s := startSetup(t, build, Setup{}, append(slices.Clone(c.says), Stream("ok"), Stream("ok"))...)
				for range 2 {
					resp, err := m.Chat(t.Context(), ask(), nil)
					if err != nil || fmt.Sprint(resp.LeftOut) != fmt.Sprint(c.leaves) {
						t.Fatalf("%v; left out %q, want %q", err, resp.LeftOut, c.leaves)
					}
				}
				sent := s.server.Requests()
				if len(sent) != len(c.says)+2 {
					t.Fatalf("%d requests", len(sent))
				}
				for _, word := range c.gone {
					if !strings.Contains(sent[0].Body, word) || strings.Contains(sent[len(sent)-2].Body, word) ||
						strings.Contains(sent[len(sent)-1].Body, word) {
						t.Errorf("%q is sent again, or never was:\n%s\n%s", word, sent[0].Body, sent[len(sent)-1].Body)
					}
				}
				for _, word := range c.stays {
					if !strings.Contains(sent[len(sent)-1].Body, word) {
						t.Errorf("%q is not sent: %s", word, sent[len(sent)-1].Body)
					}
				}
			})
		}
	}
}

func TestFailureThatIsNotAboutSchemasLeavesThemAlone(t *testing.T) {
	for name, build := range adapters() {
		for _, c := range []Answer{refusal(http.StatusBadRequest, "odd argument"),
			refusal(http.StatusUnauthorized, "bad key for the schema"), refusal(http.StatusNotFound, "no such model")} {
			m, s := startSetup(t, build, Setup{}, c)
			if _, err := m.Chat(t.Context(), question(), nil); err == nil || len(s.server.Requests()) != 1 {
				t.Errorf("%s: %v after %d requests", name, err, len(s.server.Requests()))
			}
		}
	}
}
