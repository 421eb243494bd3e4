package openai

import (
	"crypto/sha256"
	"encoding/base32"
	"path"
	"strings"
)

// quirk is a way in which some endpoints or models differ from the others.
type quirk uint32

const (
	noStreamOptions quirk = 1 << iota // stream_options is rejected
	noFormat                          // a schema for the answer is rejected
	noToolChoice                      // tool_choice is rejected: without the tools none can be called either
	// the limit of output is max_completion_tokens; elsewhere max_tokens, which OpenAI deprecates
	newLimit
	otherLimit     // that limit has the other of its two names
	noEffort       // how much to think can't be said
	leastMinimal   // the least thinking is "minimal"; elsewhere "none"
	leastLow       // the least thinking is "low"
	noReasoning    // earlier reasoning is rejected
	wantsReasoning // reasoning_content is required in each turn of the assistant
	bridged        // a user's message right after a tool's is rejected
	nineLetters    // the id of a call is nine letters and digits
	signed         // the first call of a turn needs a thought signature
	noEncrypted    // the model has no encrypted reasoning
	noSummary      // no summary of the reasoning is given
	keyHeader      // the key stands in a header of its own
)

// rule says who has a quirk: whoever rejects a request with the words said, and, known before, those under a host, a
// provider by the person's name for it, and models by a pattern of path.Match for their name without their maker's.
type rule struct {
	quirk
	said, host, provider, model string
}

// rules is the table of all quirks. What is said is compared without underscores and case, as some write the names of
// fields in the way of another language.
func rules() []rule {
	return []rule{
		{quirk: noStreamOptions, said: "stream_options"},
		{quirk: noFormat, said: "response_format"},
		{quirk: noFormat, said: "text.format"},
		{quirk: noToolChoice, said: "tool_choice"},
		{quirk: newLimit, provider: OpenAI},
		{quirk: newLimit, host: openAIHost},
		{quirk: newLimit | keyHeader, host: "openai.azure.com"},
		{quirk: newLimit | keyHeader, host: "cognitiveservices.azure.com"},
		{quirk: otherLimit, said: "max_completion_tokens"}, // "use it instead", or "unknown field"
		{quirk: noEffort, said: "reasoning_effort"},
		{quirk: noEffort, said: "reasoning.effort"},
		{quirk: noEffort, said: "does not support thinking"}, // Ollama
		{quirk: leastMinimal, said: "not support 'none'", model: "gpt-5"},
		{quirk: leastMinimal, said: "'none' is not supported", model: "gpt-5-*"},
		{quirk: leastLow, said: "not support 'minimal'", model: "o[134]*"},
		{quirk: leastLow, said: "'minimal' is not supported"},
		// Groq, Cerebras: "property 'reasoning_content' is unsupported"
		{quirk: noReasoning, said: "reasoning_content"},
		{quirk: noReasoning, said: "reasoning_details"},
		{quirk: noReasoning, said: "property 'reasoning'"},
		// DeepSeek's and Moonshot's thinking models, of a turn that came from elsewhere.
		{quirk: wantsReasoning, said: "must be passed back"},
		{quirk: wantsReasoning, said: "reasoning_content is missing"},
		// Mistral's validator; its models are served by many.
		{quirk: bridged, said: "after role 'tool'", host: "mistral.ai"},
		{quirk: nineLetters, said: "with a length of 9", host: "mistral.ai"},
		{quirk: signed, said: "missing a thought_signature", host: "generativelanguage.googleapis.com"},
		{quirk: noEncrypted, said: "encrypted content is not supported", model: "gpt-[34]*"},
		{quirk: noEncrypted, said: "encrypted_content", model: "chatgpt-*"},
		{quirk: noSummary, said: "reasoning summaries"}, // the organization is not verified
		{quirk: noSummary, said: "reasoning.summary"},
	}
}

// known is what is known of a model before anything is sent.
func known(host, provider, name string) (q quirk) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, r := range rules() {
		is, err := path.Match(r.model, name)
		if r.host != "" && strings.HasSuffix("."+host, "."+r.host) || r.provider != "" && r.provider == provider ||
			r.model != "" && is && err == nil {
			q |= r.quirk
		}
	}
	return q
}

// quirks are those that are known, and those of the rules that the endpoint has shown.
func (p *protocol) quirks(shown uint32) (q quirk) {
	for i, r := range rules() {
		if shown&(1<<i) != 0 {
			q |= r.quirk
		}
	}
	if q&(noEffort|leastMinimal|leastLow) == noEffort { // it is no value that was rejected
		return q | p.known&^(leastMinimal|leastLow)
	}
	return q | p.known
}

// callID is the id of a call as the endpoint takes it.
func (q quirk) callID(id string) string {
	odd := func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }
	if q&nineLetters == 0 || id == "" || len(id) == 9 && !strings.ContainsFunc(id, odd) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:9]
}

// effort is how much the model is told to think, by the words of Config.Think; empty: it is told nothing.
func (q quirk) effort(think string) string {
	switch {
	case think == "off" && q&leastLow != 0:
		return "low"
	case think == "off" && q&leastMinimal != 0:
		return "minimal"
	case q&noEffort != 0:
		return ""
	case think == "off":
		return "none"
	case think == "on":
		return "medium"
	}
	return think
}
