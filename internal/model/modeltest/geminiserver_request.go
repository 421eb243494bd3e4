package modeltest

import (
	"encoding/json"
	"fmt"
)

// GeminiRequest is a request as the server got it.
type GeminiRequest struct {
	Request `json:"-"`

	Model string `json:"-"` // with its collection

	SystemInstruction GeminiContent   `json:"systemInstruction"`
	Contents          []GeminiContent `json:"contents"`
	GenerationConfig  struct {
		MIMEType string          `json:"responseMimeType"`
		Schema   json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

func (r GeminiRequest) schema() json.RawMessage { return r.GenerationConfig.Schema }

// GeminiContent is a turn on the wire. Its parts are as they were sent.
type GeminiContent struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

// geminiPart is what a part is checked by.
type geminiPart struct {
	Text         *string     `json:"text"`
	FunctionCall *geminiName `json:"functionCall"`
	Response     *geminiName `json:"functionResponse"`
	Code         any         `json:"executableCode"`
	Signature    string      `json:"thoughtSignature"`
}

type geminiName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// read parses the body and says what the API would not accept of it; empty if nothing.
func (r *GeminiRequest) read() (fault string) {
	if err := json.Unmarshal([]byte(r.Body), r); err != nil {
		return "Invalid JSON payload received: " + err.Error()
	}
	return r.fault()
}

// fault says what the API would not accept of the conversation; empty if nothing.
func (r *GeminiRequest) fault() string {
	if g := r.GenerationConfig; g.Schema != nil && (g.MIMEType != "application/json" || !isObject(g.Schema)) {
		return "responseJsonSchema: an object, and the responseMimeType application/json, are required"
	}
	if len(r.Contents) == 0 {
		return "contents is not specified"
	}
	var open []geminiName
	for i, c := range r.Contents {
		if c.Role != "user" && c.Role != "model" {
			return fmt.Sprintf("contents[%d]: please use a valid role: user, model", i)
		}
		calls, results, fault := c.check()
		if fault != "" {
			return fmt.Sprintf("contents[%d]: %s", i, fault)
		}
		if len(results) != len(open) {
			return fmt.Sprintf("contents[%d]: the number of function response parts (%d) is not that of the function call parts (%d)",
				i, len(results), len(open))
		}
		for j := range open {
			if results[j] != open[j] {
				return fmt.Sprintf("contents[%d]: the function response %v answers the function call %v", i, results[j], open[j])
			}
		}
		open = calls
	}
	if len(open) > 0 {
		return "the last function calls have no function responses"
	}
	return ""
}

// check returns the calls and results in c.
func (c GeminiContent) check() (calls, results []geminiName, fault string) {
	if len(c.Parts) == 0 {
		return nil, nil, "parts must not be empty"
	}
	for i, raw := range c.Parts {
		var p geminiPart
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, nil, fmt.Sprintf("parts[%d]: %v", i, err)
		}
		switch {
		case p.FunctionCall != nil && c.Role == "model":
			if len(calls) == 0 && p.Signature == "" {
				return nil, nil, fmt.Sprintf("parts[%d]: the function call is missing a thought_signature", i)
			}
			calls = append(calls, *p.FunctionCall)
		case p.Response != nil && c.Role == "user":
			results = append(results, *p.Response)
		case p.Text != nil && (*p.Text != "" || p.Signature != ""), p.Code != nil:
		default:
			return nil, nil, fmt.Sprintf("parts[%d]: required oneof field 'data' must have one initialized field", i)
		}
	}
	return calls, results, ""
}
