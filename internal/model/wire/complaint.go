package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// The names under which vendors tell what went wrong, in lower case and without underscores; those that an answer has
// too are told apart by the code beside them.
var (
	errorNames   = []string{"error", "errors", "detail", "fault"}
	messageNames = []string{"message", "msg", "statusmsg", "errormsg", "errmsg", "errormessage", "errordescription",
		"faultstring", "reason", "title", "description"}
	codeNames    = []string{"code", "statuscode", "errorcode", "errcode", "errno", "ret"}
	successCodes = []string{"", "0", "200", "ok", "success", "null", "false"}
)

// parseComplaint reads what a vendor says of a failed request, whatever its form, or plain text.
func parseComplaint(body []byte) Complaint {
	if c, _ := findComplaint(body); c.Message != "" || c.Code != "" || c.Type != "" || c.Status != "" {
		return c
	}
	switch {
	case !json.Valid(body):
		return Complaint{Message: prose(body)}
	case isObject(body):
		return Complaint{}
	}
	return Complaint{Message: PlainText(body)}
}

// isComplaint says whether a body tells of a failure.
func isComplaint(body []byte) bool {
	_, sure := findComplaint(body)
	return sure
}

// findComplaint finds what a JSON body says of a failure, by its shape: a text under a name for errors, or a message
// beside a code that is no success. Either may be in an object below, or in the first entry of a list. sure says that
// it is a failure; a message alone may be something else.
func findComplaint(body []byte) (c Complaint, sure bool) {
	if !json.Valid(body) {
		return c, false
	}
	return complaintIn(body, 0)
}

// maxDepth bounds how deep a complaint is looked for.
const maxDepth = 4

func complaintIn(raw json.RawMessage, depth int) (c Complaint, sure bool) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) == nil {
		if len(all) == 0 || depth == maxDepth {
			return c, false
		}
		return complaintIn(all[0], depth+1)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || depth == maxDepth {
		return c, false
	}
	failed := false           // by its code
	var under json.RawMessage // under a name for errors
	for _, name := range sortedNames(fields) {
		value := fields[name]
		switch plain := plainName(name); {
		case slices.Contains(errorNames, plain):
			if isSaid(value) {
				under = value
			}
		case slices.Contains(messageNames, plain) && c.Message == "" && isText(value):
			c.Message = PlainText(value)
		case slices.Contains(codeNames, plain) && !isObject(value):
			code := PlainText(value)
			c.Code = cmp.Or(c.Code, code)
			failed = failed || !slices.Contains(successCodes, strings.ToLower(code))
		case plain == "type" && isText(value):
			c.Type = PlainText(value)
			failed = failed || c.Type == "error"
		case plain == "status":
			c.Status = PlainText(value)
			failed = failed || slices.Contains([]string{"error", "failed", "failure"}, strings.ToLower(c.Status))
		case plain == "success":
			failed = failed || string(value) == "false"
		case plain == "details":
			c.Details = value
		case plain == "metadata":
			c.addUpstream(value)
		}
	}
	switch {
	case under != nil:
		inner, _ := complaintIn(under, depth+1)
		if inner.Message == "" && inner.Code == "" && inner.Type == "" {
			inner.Message = PlainText(under)
		}
		return c.orElse(inner), true
	case failed && c.Message != "":
		return c, true
	}
	for _, name := range sortedNames(fields) { // a status in an object of its own
		if isObject(fields[name]) {
			if inner, is := complaintIn(fields[name], depth+1); is {
				return inner, true
			}
		}
	}
	return c, false
}

// orElse returns inner, with what it leaves out from c.
func (c Complaint) orElse(inner Complaint) Complaint {
	inner.Message, inner.Code = cmp.Or(inner.Message, c.Message), cmp.Or(inner.Code, c.Code)
	inner.Status = cmp.Or(inner.Status, c.Status)
	if inner.Details == nil {
		inner.Details = c.Details
	}
	return inner
}

// addUpstream adds what the provider behind a gateway said, as OpenRouter reports it.
func (c *Complaint) addUpstream(metadata json.RawMessage) {
	var upstream struct {
		Raw json.RawMessage `json:"raw"`
	}
	if json.Unmarshal(metadata, &upstream) != nil {
		return
	}
	if text := prose([]byte(PlainText(upstream.Raw))); text != "" {
		c.Message += ": " + text
	}
}

// sortedNames are the names of fields, messages first, so that what is added to a message finds it.
func sortedNames(fields map[string]json.RawMessage) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	rank := func(name string) int {
		if at := slices.Index(messageNames, plainName(name)); at >= 0 {
			return at
		}
		return len(messageNames)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func isText(raw json.RawMessage) bool { return len(raw) > 2 && raw[0] == '"' }

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// isSaid says whether a field under a name for errors tells of one.
func isSaid(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]", "0":
		return false
	}
	return true
}
