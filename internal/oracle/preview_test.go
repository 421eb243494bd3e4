package oracle_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

func segmentIDs(p oracle.Preview) (ids []string) {
	for _, s := range p.Segments {
		ids = append(ids, s.ID)
	}
	return ids
}

// The preview is the very prompt that a run's first turn is asked with.
func TestPreviewIsThePromptOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	for _, question := range []string{auth, caching, weather, thanks, save} {
		t.Run(question, func(t *testing.T) {
			h := setUp(t, modeltest.Say("Done. "+partial("all")))
			p := assert.Must(h.preview(question, false, false))(t)
			a := h.ask(question)
			same(t, "prompt", p.Prompt, h.request(1).System)
			same(t, "tools", p.Offered, offered(h.request(1)))
			same(t, "class", string(p.Class.QueryType), a.QueryType)
			same(t, "segments", segmentIDs(p), h.receipts()[0].Segments)
			total := 0
			for _, s := range p.Segments {
				total += s.Tokens
			}
			assert.That(t, p.Tokens >= total && p.Tokens <= total+20 && p.Limit == 8000,
				"%d tokens in segments of %d, limit %d", p.Tokens, total, p.Limit)
		})
	}
}

func TestPreviewOfALongConversationHasItsSegment(t *testing.T) {
	h := setUp(t)
	p := assert.Must(h.preview(auth, true, false))(t)
	same(t, "segments", segmentIDs(p), []string{"base", "signals", "tools", "code", "summarization", "closing"})
}

func TestPreviewAfterAnErrorIsWhatIsSent(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), theEnd)
	h.world.replaceTool("code_search", fails(tool.NotFound, "", "no such folder"))
	p := assert.Must(h.preview(auth, false, true))(t)
	h.ask(auth)
	same(t, "prompt", p.Prompt, h.request(2).System)
	same(t, "what is said", p.Recovery, lastText(h.request(2)))
}

func (h *harness) preview(words string, large, failed bool) (oracle.Preview, error) {
	return h.surroundings(h.store).PreviewTurn(h.t.Context(), h.tree.File, h.tree.Text, words,
		h.question(words).Options,
		large, failed)
}
