package mcpclient

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

// Bounds of results: bytes of data, and places. Strangers' data is only stored in the journal: nothing reads it.
const (
	maxForeignData = tool.MaxText
	maxOwnData     = 4 << 20
	maxRefs        = 50
)

// toResult converts a server's result. Items counts its pieces of content.
func (r *remote) toResult(res *mcp.CallToolResult) (tool.Result, error) {
	out := tool.Result{Text: redact.Text(textOf(res.Content)), Items: len(res.Content), Refs: r.refs(res.Content)}
	if res.StructuredContent != nil {
		data, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return tool.Result{}, tool.Errorf(tool.Failed, "",
				"the structured result of %s can't be read: %w", r.spec.Name, err)
		}
		out.Data = data
		if out.Text == "" {
			out.Text, out.Items = string(data), 1
		}
	}
	if res.IsError {
		return tool.Result{}, r.resultError(out)
	}
	most := maxOwnData
	if !r.session.cfg.Own {
		most = maxForeignData
	}
	if len(out.Data) > most {
		out.Data, out.Truncated = nil, true
	}
	return tool.CutText(out), nil
}

// ownFailure is the structured result of our own server for a failed call.
type ownFailure struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// errUnconfirmed is wrapped by the error of our own server for a call that was not confirmed.
var errUnconfirmed = errors.New("nobody confirmed it")

// codeUnconfirmed is our own server's code for such a call.
const codeUnconfirmed = "CONFIRMATION_REQUIRED"

// kindOf returns the kind for a code of our own server.
func kindOf(code string) tool.Kind {
	switch code {
	case "VALIDATION_ERROR":
		return tool.InvalidArgs
	case "NOT_FOUND":
		return tool.NotFound
	case "CONFLICT":
		return tool.Conflict
	case codeUnconfirmed, "FORBIDDEN":
		return tool.Denied
	case "UNAVAILABLE":
		return tool.Busy
	case "DATABASE_ERROR":
		return tool.Unavailable
	}
	return tool.Failed
}

// resultError makes an error of a result with IsError. It keeps the server's words, so that a model may correct the
// call.
func (r *remote) resultError(res tool.Result) *tool.Error {
	const most = 2 << 10
	message := tool.Clip(cmp.Or(strings.TrimSpace(res.Text), "it failed, and does not say why"), most)
	var failed ownFailure
	if !r.session.cfg.Own || json.Unmarshal(res.Data, &failed) != nil || failed.Code == "" {
		return tool.Errorf(tool.Failed, "", "%s", message)
	}
	err := &tool.Error{Kind: kindOf(failed.Code), Message: tool.Clip(cmp.Or(failed.Error, message), most)}
	if failed.Code == codeUnconfirmed {
		err.Err = errUnconfirmed
	}
	return err
}

// textOf returns the text of the contents. Other kinds of content are only named.
func textOf(contents []mcp.Content) string {
	var parts []string
	for _, c := range contents {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[a picture, %s, %d bytes, not shown]",
				cmp.Or(c.MIMEType, "of no stated kind"), len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[a recording, %s, %d bytes, not played]",
				cmp.Or(c.MIMEType, "of no stated kind"), len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[a link to %s: %s]", cmp.Or(c.Title, c.Name, "a resource"), c.URI))
		case *mcp.EmbeddedResource:
			parts = append(parts, resourceText(c.Resource))
		default:
			parts = append(parts, "[content of a kind that can't be shown]")
		}
	}
	return strings.Join(parts, "\n")
}

func resourceText(c *mcp.ResourceContents) string {
	switch {
	case c == nil:
		return "[an empty resource]"
	case c.Text != "":
		return c.Text
	}
	return fmt.Sprintf("[a file, %s, %d bytes, not shown: %s]",
		cmp.Or(c.MIMEType, "of no stated kind"), len(c.Blob), c.URI)
}

// refs returns the sources of a foreign server's result: the tool, and the resources that it returned. Resources that
// it only links to are not opened.
func (r *remote) refs(contents []mcp.Content) []tool.Ref {
	s := r.session
	if !s.cfg.Foreign {
		return nil
	}
	refs := []tool.Ref{{Source: s.cfg.Source, Path: s.cfg.Name + "/" + r.name, Title: r.spec.Title, Opened: true}}
	for _, c := range contents {
		switch c := c.(type) {
		case *mcp.ResourceLink:
			refs = append(refs, tool.Ref{Source: s.cfg.Source, URL: c.URI, Title: cmp.Or(c.Title, c.Name)})
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" && c.Resource.URI != "" {
				refs = append(refs, tool.Ref{Source: s.cfg.Source, URL: c.Resource.URI, Opened: true})
			}
		}
	}
	return refs[:min(len(refs), maxRefs)]
}
