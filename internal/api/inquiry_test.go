package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

const (
	inquiries  = "/api/inquiries"
	hypothesis = "The Oder bridge was closed because of corrosion"
	evidence   = "The Oder bridge was closed on 3 May 2021. It was closed because of corrosion of the main " +
		"cables.\n\nThe engineer Anna Berg ordered the closure of the bridge. The repair cost 2.4 million euros.\n"
)

func TestInquiryIsBegunListedReadAndExported(t *testing.T) {
	h, _ := withInquiry(t)
	h.open()
	var begun api.InquiryBegun
	a := h.get(inquires("", ""), &begun)
	at := inquiries + "/" + begun.ID
	assert.Require(t, a.status == http.StatusAccepted && a.header.Get("Location") == at && begun.ID != "" &&
		begun.Run != "" && begun.State != "", "%d %v %+v", a.status, a.header, begun)
	h.over(begun.Run)
	whole := h.get(question{path: at}, nil)
	assert.That(t, whole.header.Get("Content-Type") == "application/json", "it is %s", whole.header.Get("Content-Type"))
	s, err := record.Unmarshal(whole.body)
	assert.Require(t, err == nil && len(s.Validate()) == 0, "%v %v in %s", err, s.Validate(), whole.body)
	assert.That(t, s.ID == begun.ID && s.Run == begun.Run && s.Status != record.Running && len(s.Pairs) != 0 &&
		s.IterationLimit == 5 && s.Hypothesis.Text == hypothesis && s.Detective == model.OfflineRules,
		"the session is %s", whole.body)
	kept, err := os.ReadFile(filepath.Join(h.folder, "inquiries", "ada", record.FileName(s)))
	var told inquiry.Session
	assert.NoError(t, errors.Join(err, json.Unmarshal(whole.body, &told)))
	diff := cmp.Diff(string(kept), string(assert.Must(record.Marshal(told.Session))(t)))
	assert.That(t, diff == "", "what is told is not what its file has (-file +told):\n%s", diff)
	var ran service.Row
	h.get(question{path: "/api/runs/" + begun.Run}, &ran)
	assert.That(t, ran.State == run.StateEnded && cmp.Diff(told.Standing, ran.Standing) == "",
		"the session says %+v, and its run %+v", told.Standing, ran.Standing)
	byRun := h.get(question{path: inquiries + "/" + begun.Run}, nil)
	assert.That(t, string(byRun.body) == string(whole.body), "by its run it is another one")
	var all api.Inquiries
	h.get(question{path: inquiries, token: adasReader}, &all)
	assert.Require(t, len(all.Inquiries) == 1 && all.Next == "", "%+v", all)
	one := all.Inquiries[0]
	assert.That(t, one.ID == s.ID && one.Run == s.Run && one.Hypothesis == hypothesis && one.Status == s.Status &&
		one.Pairs == len(s.Pairs) && one.ConsistencyScore == nil && one.Verdict == record.Verdict(&s),
		"the list has %+v", one)
	for format, want := range map[string][3]string{
		"":             {"text/markdown; charset=utf-8", `attachment; filename="inquiry-` + s.ID + `.md"`, hypothesis},
		"?format=json": {"application/json", `attachment; filename="inquiry-` + s.ID + `.json"`, string(kept)},
		"?format=html": {"text/html; charset=utf-8", `inline; filename="inquiry-` + s.ID + `.html"`, "<!DOCTYPE html>"},
	} {
		a := h.get(question{path: at + "/export" + format}, nil)
		assert.That(t, a.header.Get("Content-Type") == want[0] && a.header.Get("Content-Disposition") == want[1] &&
			strings.Contains(string(a.body), want[2]), "export %s: %v\n%s", format, a.header, a.body)
		policies := a.header.Values("Content-Security-Policy")
		assert.That(t, len(policies) == 1 && strings.HasPrefix(policies[0], "default-src 'none'") &&
			strings.Contains(policies[0], "frame-ancestors 'none'") && !strings.Contains(policies[0], "unsafe") &&
			(format != "?format=html" || policies[0] == record.PagePolicy()+"; frame-ancestors 'none'; sandbox"),
			"export %s has the policies %q", format, policies)
	}
	h.refused("another format", question{path: at + "/export?format=exe"}, 400, "invalid_request")
	var sum api.InquirySummary
	h.get(question{path: at + "/summary", token: adasReader}, &sum)
	assert.That(t, sum.Text == s.Audit().Summary && sum.By == "" && sum.Provisional == (s.AuditResult == nil) &&
		strings.Contains(sum.HTML, "<p>"), "the summary is %+v", sum)
}

// aboutInquiry are requests of every route that names an inquiry.
func aboutInquiry(id, token string) []question {
	at := inquiries + "/" + id
	return []question{{path: at, token: token}, {path: at + "/export", token: token}, {path: at + "/export?format=html",
		token: token}, {path: at + "/summary", token: token}, {method: "POST", path: at + "/stop", token: token}}
}

func TestInquiryOfAnotherIsAsOneThatNeverWas(t *testing.T) {
	h, _ := withInquiry(t)
	asked, release := h.silentFrom(2)
	defer release()
	h.open()
	var begun api.InquiryBegun
	h.get(inquires("", ""), &begun)
	h.comes("the second question", asked)
	panel := h.begin(evesToken, "Tea?")
	for _, id := range []string{begun.ID, begun.Run, panel.Run, panel.Session, begun.ID[:8], "..%2f" + begun.ID,
		begun.ID + "%00", "%F0%9F%92%A9", strings.Repeat("x", 300)} {
		for i, q := range aboutInquiry(id, evesToken) {
			hers := h.refused(q.method+" "+q.path, q, 404, "not_found")
			never := h.ask(aboutInquiry("0b7f6c0e-2f60-4d5c-9a3e-1c2d3e4f5a6b", evesToken)[i])
			assert.That(t, string(hers.body) == string(never.body), "%s is told apart: %s, %s", q.path, hers.body, never.body)
		}
	}
	var all api.Inquiries
	h.get(question{path: inquiries, token: evesToken}, &all)
	assert.That(t, len(all.Inquiries) == 0, "eve's list is %+v", all)
	assert.That(t, h.engine.Live(begun.Run) != nil, "it was stopped by another")
}

func TestInquiryTellsNoPathOfItsServer(t *testing.T) {
	for about, spoil := range map[string]func(h *house, reports string){
		"one that goes well": func(*house, string) {},
		"a witness that is gone": func(h *house, reports string) {
			opened := h.config.Inquiry.Witness
			calls := 0
			h.config.Inquiry.Witness = func(ctx context.Context, w inquiry.WitnessSpec) (witness.Witness, []record.Document,
				error) {
				if calls++; calls > 1 { // it is there when the inquiry begins
					_ = os.Rename(reports, reports+"-moved")
				}
				return opened(ctx, w)
			}
		},
		"files that can't be written": func(h *house, _ string) {
			assert.NoError(h, os.MkdirAll(filepath.Join(h.folder, "inquiries"), 0o700))
			assert.NoError(h, os.WriteFile(filepath.Join(h.folder, "inquiries", "ada"), []byte("no folder"), 0o600))
		},
	} {
		t.Run(about, func(t *testing.T) {
			h, reports := withInquiry(t)
			spoil(h, reports)
			h.others = nil
			h.others = append(h.others, theInquiry(h))
			h.open()
			var begun api.InquiryBegun
			h.get(inquires("", ""), &begun)
			h.over(begun.Run)
			at, run := inquiries+"/"+begun.ID, "/api/runs/"+begun.Run
			paths := []string{inquiries, at, at + "/export", at + "/export?format=html", run, run + "/explanation",
				"/api/sessions/" + begun.ID, "/api/sessions/" + begun.ID + "/export",
				"/api/sessions/" + begun.ID + "/audit"}
			told := map[string]string{}
			for _, path := range paths {
				told[path] = string(h.get(question{path: path}, nil).body)
			}
			for _, e := range h.stream(question{path: run + "/events"}).rest() {
				told["events"] += string(e.Data)
			}
			for from, text := range told {
				assert.Lacks(t, from, text, h.folder, filepath.Dir(reports))
			}
			var s record.Session
			h.get(question{path: at}, &s)
			assert.That(t, about != "a witness that is gone" || (s.Witness.Name == "reports" && len(s.AuditTrail) != 0 &&
				strings.Contains(s.AuditTrail[0].Reason, "reports")),
				"the witness is not called by its name: %+v, %+v", s.Witness, s.AuditTrail)
			assert.That(t, about != "files that can't be written" || len(s.AuditTrail) != 0,
				"nothing says that files could not be written")
		})
	}
}

func TestWhoMayOnlyReadInquiriesWritesNoFile(t *testing.T) {
	h, _ := withInquiry(t)
	h.open()
	at, s := h.inquired()
	file := filepath.Join(h.folder, "inquiries", "ada", record.FileName(s))
	assert.NoError(t, os.Remove(file))
	h.get(question{path: at, token: adasReader}, nil)
	for _, path := range []string{inquiries, at, at + "/export"} {
		a := h.ask(question{method: "HEAD", path: path, token: adasReader})
		assert.That(t, a.status == 200 && len(a.body) == 0, "HEAD %s: %d with %d bytes", path, a.status, len(a.body))
	}
	_, err := os.Stat(file)
	assert.That(t, errors.Is(err, fs.ErrNotExist), "the file of a session is there: %v", err)
	h.get(question{path: at}, nil)
	content, err := os.ReadFile(file)
	assert.That(t, err == nil && len(content) != 0, "for who may write it is not put right: %v", err)
}

// verifies asks that something is checked.
func verifies(query, kind string, body any) question {
	return question{method: "POST", path: inquiries + "/verify" + query, body: body,
		header: map[string]string{"Content-Type": kind}}
}

func outcomes(r record.Report) map[string]record.Outcome {
	all := map[string]record.Outcome{}
	for _, c := range r.Checks {
		all[c.Name] = c.Outcome
	}
	return all
}

func document(query, kind string, body any) question {
	return question{method: "POST", path: "/api/documents" + query, body: body,
		header: map[string]string{"Content-Type": kind}}
}

func TestDocumentsThatAreHandedOverAreTheWitnessAndAreCheckedAgainstTheirFiles(t *testing.T) {
	h, reports := withInquiry(t)
	h.open()
	pdf := string(documenttest.PDF(true, []string{"Report"}, nil,
		[]string{"The bridge was closed because of corrosion on 3 May 2021."}))
	// more than other bodies may have
	text := strings.ReplaceAll(evidence, "Oder", "Spree") + strings.Repeat("Nothing else is known of it.\n\n", 4000)
	material := ""
	for name, content := range map[string]string{"report.pdf": pdf, "spree.txt": text} {
		assert.NoError(t, os.WriteFile(filepath.Join(reports, name), []byte(content), 0o600))
		var read api.DocumentText
		h.get(document("?name="+name, "application/octet-stream", content), &read)
		material += read.Material
	}
	q := inquires("", "")
	q.body.(map[string]any)["documents"] = material
	var begun api.InquiryBegun
	h.get(q, &begun)
	h.over(begun.Run)
	at := inquiries + "/" + begun.ID
	var s record.Session
	h.get(question{path: at}, &s)
	hashes := map[string]string{"report.pdf": files.Hash([]byte(pdf)), "spree.txt": files.Hash([]byte(text))}
	for _, d := range s.Witness.Documents {
		assert.That(t, hashes[d.Name] == d.Hash, "%s has the hash %s", d.Name, d.Hash)
	}
	assert.That(t, len(s.Witness.Documents) == 2 && s.Witness.Kind == record.WitnessDocuments,
		"the witness is %+v", s.Witness)
	cited := map[string]int{}
	for _, pair := range s.Pairs {
		for _, c := range pair.Citations {
			cited[c.Document] = c.Page
		}
	}
	assert.That(t, cited["report.pdf"] == 3 && cited["spree.txt"] == 1, "cited are %v", cited)
	page := string(h.get(question{path: at + "/export?format=html"}, nil).body)
	var r record.Report
	h.get(verifies("?documents=reports", "text/html", page), &r)
	assert.That(t, r.OK && outcomes(r)[record.CheckDocuments] == record.Holds, "with the files: %+v", r)
	assert.NoError(t, os.WriteFile(filepath.Join(reports, "spree.txt"), []byte("It stays open."), 0o600))
	h.get(verifies("?documents=reports", "text/html", page), &r)
	assert.That(t, !r.OK, "with a file that was changed: %+v", r)
	a := h.ask(question{path: at, token: evesToken})
	assert.That(t, a.status == http.StatusNotFound, "another user is told %d", a.status)
}
