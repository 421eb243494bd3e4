package wire

import (
	"strings"
	"testing"
)

func TestFailureIsFoundByItsShapeAndToldInTheVendorsWords(t *testing.T) {
	for body, says := range map[string]string{
		`{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`: "insufficient balance",
		`{"error":"no such thing"}`:                                                             "no such thing",
		`{"error":{"message":"no such thing"}}`:                                                 "no such thing",
		`[{"error":{"code":400,"message":"odd","status":"INVALID"}}]`:                           "odd",
		`{"detail":"not authenticated"}`:                                                        "not authenticated",
		`{"detail":[{"loc":["body"],"msg":"field required"}]}`:                                  "field required",
		`{"errors":[{"title":"Bad","description":"worse"}]}`:                                    "Bad",
		`{"error_code":336003,"error_msg":"the length of it is wrong"}`:                         "the length of it",
		`{"success":false,"msg":"gone"}`:                                                        "gone",
		`{"status":"error","message":"gone"}`:                                                   "gone",
		`{"object":"error","message":"odd argument","code":400}`:                                "odd argument",
		`{"code":"InvalidApiKey","message":"odd key","request_id":"x"}`:                         "odd key",
		`{"fault":{"faultstring":"quota violation","detail":{}}}`:                               "quota violation",
		`{"type":"error","error":{"type":"overloaded_error"}}`:                                  "",
		`{"header":{"code":10163,"message":"param error","sid":"1"}}`:                           "param error",
		`{"error":{"message":"Provider returned error","metadata":{"raw":"upstream said no"}}}`: "upstream said no",
	} {
		if c, sure := findComplaint([]byte(body)); !sure || !strings.Contains(c.Message, says) {
			t.Errorf("%s: %+v, sure %v; want %q", body, c, sure, says)
		}
	}
	for _, body := range []string{
		`{"id":"x","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1}}`,
		`{"choices":[],"base_resp":{"status_code":0,"status_msg":"success"}}`, `{"error":null}`, `{"error":false}`,
		`{"error":""}`, `{"type":"ping"}`, `{"code":200,"message":"ok"}`, `{"choices":[],"prompt_filter_results":[{"code":1}]}`,
		`{"message":"queued"}`, `[]`, `"text"`, `{"success":true,"message":"done"}`, `no JSON`,
	} {
		if c, sure := findComplaint([]byte(body)); sure {
			t.Errorf("%s is taken for a failure: %+v", body, c)
		}
	}
}
