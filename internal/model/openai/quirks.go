package openai

import (
	"crypto/sha256"
	"encoding/base32"
	"path"
	"strings"
	"sync"
)

// quirk is a way in which some endpoints or models differ from the others.
type quirk uint32

const (
	noStreamOptions quirk = 1 << iota // stream_options is rejected
	noFormat                          // a schema for the answer is rejected
	noToolChoice                      // tool_choice is rejected: without the tools none can be called either
	// the limit of output is max_completion_tokens; elsewhere max_tokens, which OpenAI deprecates
	completionLimit
	swappedLimit   // that limit has the other of its two names
	noEffort       // there is no effort to set
	leastMinimal   // the least effort is "minimal"; elsewhere "none"
	leastLow       // the least effort is "low"
	noReasoning    // earlier reasoning is rejected
	wantsReasoning // reasoning_content is required in each turn of the assistant
	needsBridge    // a user's message right after a tool's is rejected
	nineLetterIDs  // the id of a call is nine letters and digits
	needsSignature // the first call of a turn needs a thought signature
	noEncrypted    // the model has no encrypted reasoning
	noSummary      // no summary of the reasoning is given
	keyHeader      // the key is sent in a header of its own
	noProgress     // the server is not asked how much of a request it has read
	noTemperature  // temperature is rejected
)

// rule says who has a quirk: an endpoint that rejects a request with the words of complaint and, without a request, a
// host with those below it, a provider by the person's name for it, or models by a path.Match pattern for their name
// without the maker's.
type rule struct {
	quirk
	complaint, host, provider, model string
}

// rules is the table of all quirks. Complaints are compared without underscores and case, as some endpoints write the
// names of fields in the style of another language.
var rules = sync.OnceValue(func() []rule {
	return []rule{
		{quirk: noStreamOptions, complaint: "stream_options"},
		{quirk: noFormat, complaint: "response_format"},
		{quirk: noFormat, complaint: "text.format"},
		{quirk: noToolChoice, complaint: "tool_choice"},
		{quirk: completionLimit, provider: OpenAI},
		{quirk: completionLimit, host: openAIHost},
		{quirk: completionLimit | keyHeader, host: "openai.azure.com"},
		{quirk: completionLimit | keyHeader, host: "cognitiveservices.azure.com"},
		{quirk: swappedLimit, complaint: "max_completion_tokens"}, // "use it instead", or "unknown field"
		{quirk: noEffort, complaint: "reasoning_effort"},
		{quirk: noEffort, complaint: "reasoning.effort"},
		{quirk: noEffort, complaint: "does not support thinking"}, // Ollama
		{quirk: leastMinimal, complaint: "not support 'none'", model: "gpt-5"},
		{quirk: leastMinimal, complaint: "'none' is not supported", model: "gpt-5-*"},
		{quirk: leastLow, complaint: "not support 'minimal'", model: "o[134]*"},
		{quirk: leastLow, complaint: "'minimal' is not supported"},
		// Groq, Cerebras: "property 'reasoning_content' is unsupported"
		{quirk: noReasoning, complaint: "reasoning_content"},
		{quirk: noReasoning, complaint: "reasoning_details"},
		{quirk: noReasoning, complaint: "property 'reasoning'"},
		// DeepSeek's and Moonshot's thinking models, of a turn that came from elsewhere.
		{quirk: wantsReasoning, complaint: "must be passed back"},
		{quirk: wantsReasoning, complaint: "reasoning_content is missing"},
		// Mistral's validator; its models are served by many.
		{quirk: needsBridge, complaint: "after role 'tool'", host: "mistral.ai"},
		{quirk: nineLetterIDs, complaint: "with a length of 9", host: "mistral.ai"},
		{quirk: needsSignature, complaint: "missing a thought_signature", host: "generativelanguage.googleapis.com"},
		{quirk: noEncrypted, complaint: "encrypted content is not supported", model: "gpt-[34]*"},
		{quirk: noEncrypted, complaint: "encrypted_content", model: "chatgpt-*"},
		{quirk: noSummary, complaint: "reasoning summaries"}, // the organization is not verified
		{quirk: noSummary, complaint: "reasoning.summary"},
		{quirk: noProgress, complaint: "return_progress"},
		{quirk: noTemperature, complaint: "temperature"},
	}
})

// presetQuirks returns the quirks of a model that are known before anything is sent.
func presetQuirks(host, provider, name string) (q quirk) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, r := range rules() {
		matches, err := path.Match(r.model, name)
		if r.host != "" && strings.HasSuffix("."+host, "."+r.host) || r.provider != "" && r.provider == provider ||
			r.model != "" && matches && err == nil {
			q |= r.quirk
		}
	}
	return q
}

// quirks returns the preset quirks, and those of the rules by which the endpoint has rejected a request, as bits.
func (p *protocol) quirks(rejectedRules uint32) (q quirk) {
	for i, r := range rules() {
		if rejectedRules&(1<<i) != 0 {
			q |= r.quirk
		}
	}
	if q&(noEffort|leastMinimal|leastLow) == noEffort { // the field was rejected, not a value of it
		return q | p.preset&^(leastMinimal|leastLow)
	}
	return q | p.preset
}

// callID returns the id of a call in a form that the endpoint accepts.
func (q quirk) callID(id string) string {
	odd := func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }
	if q&nineLetterIDs == 0 || id == "" || len(id) == 9 && !strings.ContainsFunc(id, odd) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:9]
}

// effort returns the field's value for a Config.Think; empty: the field is left out.
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
