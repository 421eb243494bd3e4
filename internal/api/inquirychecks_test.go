package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/inquiry/record"
)

// verifies asks that something is checked.
func verifies(query, kind string, body any) question {
	return question{method: "POST", path: inquiries + "/verify" + query, body: body, header: map[string]string{"Content-Type": kind}}
}

func outcomes(r record.Report) map[string]record.Outcome {
	all := map[string]record.Outcome{}
	for _, c := range r.Checks {
		all[c.Name] = c.Outcome
	}
	return all
}

func TestEvidenceIsVerified(t *testing.T) {
	h, _ := withInquiry(t)
	h.open()
	at, s := h.inquired()
	page := string(h.get(question{path: at + "/export?format=html"}, nil).body)
	if !strings.Contains(page, "The repair cost 2.4 million euros.</blockquote>") { // which nobody quotes: it stands in the passage alone
		t.Errorf("the page does not show the passage: %s", page)
	}
	file := string(h.get(question{path: at}, nil).body)
	var r record.Report
	h.get(verifies("", "text/html; charset=utf-8", page), &r)
	if !r.OK || !r.Page || r.Session != s.ID || !strings.HasPrefix(r.Digest, "sha256:") || len(r.Checks) != 4 || outcomes(r)[record.CheckDocuments] != record.NotChecked {
		t.Errorf("of the page: %+v", r)
	}
	h.get(verifies("?documents=reports", "text/html", page), &r)
	if got := outcomes(r)[record.CheckDocuments]; !r.OK || got != record.Holds {
		t.Errorf("with its documents: %+v", r)
	}
	h.get(verifies("?documents=reports", "application/json", file), &r)
	if !r.OK || r.Page || r.Session != s.ID || outcomes(r)[record.CheckDocuments] != record.Holds {
		t.Errorf("of the session: %+v", r)
	}
	forged := strings.Replace(page, "corrosion", "erosion", 1)
	if h.get(verifies("", "text/html", forged), &r); r.OK || outcomes(r)[record.CheckShown] != record.Fails {
		t.Errorf("of a page that was changed: %+v", r)
	}
	changed := strings.Replace(file, `"iterationLimit": 5`, `"iterationLimit": 50`, 1)
	if h.get(verifies("", "application/json", changed), &r); r.OK || outcomes(r)[record.CheckRules] != record.Fails {
		t.Errorf("of a session that was changed: %+v", r)
	}
	for _, none := range []string{"<html></html>", "hello", "{", "\x00"} {
		if h.get(verifies("", "text/html", none), &r); r.OK || outcomes(r)[record.CheckRead] != record.Fails {
			t.Errorf("%q is %+v", none, r)
		}
	}
}

func TestEvidenceThatCannotBeVerifiedIsRefused(t *testing.T) {
	h, reports := withInquiry(t)
	h.config.Limits.Evidence = 1 << 10
	h.open()
	h.refused("no folder", verifies("?documents=hunter2", "text/html", "x"), 404, "no_folder")
	if a := h.refused("a folder that is gone", verifies("?documents=empty", "text/html", "x"), http.StatusServiceUnavailable, "no_documents"); strings.Contains(string(a.body), reports) {
		t.Errorf("it tells %s", a.body)
	}
	h.refused("a folder without a name", verifies("?documents=", "text/html", "x"), 400, "invalid_request")
	h.refused("of another kind", verifies("", "application/pdf", "%PDF"), 415, "no_evidence")
	h.refused("of no kind", verifies("", "", "x"), 415, "no_evidence")
	compressed := verifies("", "text/html", "x")
	compressed.header["Content-Encoding"] = "gzip"
	h.refused("compressed", compressed, 415, "no_evidence")
	h.refused("nothing", verifies("", "text/html", ""), 400, "invalid_request")
	large := bytes.Repeat([]byte("x"), 1<<10+1)
	h.refused("too large", verifies("", "text/html", bytes.NewReader(large)), 413, "too_large")
	h.refused("too large, unannounced", verifies("", "text/html", io.MultiReader(bytes.NewReader(large))), 413, "too_large")
	reader := verifies("", "text/html", "x")
	reader.token = adasReader
	h.refused("who may only read", reader, 403, "scope")
	if raw := fmt.Sprint(h.get(verifies("", "text/html", bytes.NewReader(large[1:])), nil).status); raw != "200" {
		t.Errorf("just as large as may be: %s", raw)
	}
}

func TestEvidenceThatTricklesIsEnded(t *testing.T) {
	h, _ := withInquiry(t)
	h.config.Limits.Read = 20 * time.Millisecond
	h.open()
	conn := h.dial()
	if _, err := fmt.Fprintf(conn, "POST %s/verify HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n<", inquiries, h.addr, adasToken); err != nil {
		t.Fatal(err)
	}
	if got := h.ends("a page that trickles", conn); !strings.Contains(got, " 408 ") || !strings.Contains(got, `"slow_body"`) {
		t.Errorf("answered with %s", got)
	}
}
