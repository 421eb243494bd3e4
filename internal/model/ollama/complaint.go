package ollama

import (
	"fmt"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// judge sorts a failure by its words, as Ollama has no error codes, and says what would help against those that the person can do
// something about.
func (p protocol) judge(x *wire.Exchange, status int, c *wire.Complaint) {
	said := strings.ToLower(c.Message)
	c.Kind = wire.StatusKind(status)
	switch {
	case wire.TooLong(said):
		c.Kind = model.ContextLength
		c.Advice = " (the context window is the server's own: set a larger one)"
		if p.numCtx > 0 {
			c.Advice = fmt.Sprintf(" (the context window is set to %d tokens)", p.numCtx)
		}
	case wire.Mentions(said, "does not support tools"):
		c.Kind = model.Invalid
		c.Advice = fmt.Sprintf(": choose a model with tools; ‘ollama show %s’ lists what one can do", p.name)
	case wire.Mentions(said, "requires more system memory"):
		c.Kind = model.Invalid
		c.Advice = "; choose a smaller model or a smaller context window"
	case wire.Mentions(said, "does not support", "model is required", "invalid model name"):
		c.Kind = model.Invalid
	case wire.Mentions(said, "maximum pending requests"):
		c.Kind = model.RateLimit
	case status < http.StatusInternalServerError && wire.AgainstPolicy(said):
		c.Kind = model.Refused
	case wire.Mentions(said, "model") && wire.Mentions(said, "not found"):
		c.Advice = "; to get it: ollama pull " + p.name
	case status == http.StatusUnauthorized && x.Key() == "":
		c.Advice = "; a model in Ollama's cloud wants: ollama signin, a proxy a key"
	}
}
