package model

// The bounds of answers (Request.Bound), in tokens, by what they are asked for. They are far above what is honestly
// written for it, and end what goes on without an end: a list that counts, or a text that rambles.
const (
	BoundTurn    = 16 << 10 // a text that a person reads whole, or that a tool writes: some 12,000 words
	BoundForm    = 8 << 10  // a form with lists and quotations: a merged answer, an analysis, chosen passages
	BoundNotes   = 4 << 10  // notes of a conversation, a summary
	BoundReading = 2000     // a short form: the reading of a message, a question, its sentences in another language
	BoundWitness = 600      // what a witness says to a question
	BoundFound   = 600      // an answer of one or two sentences from what was looked up
	BoundName    = 500      // a title
)

// BoundIn returns BoundTurn for a model with that window: at most a quarter of it, but no less than BoundNotes, which
// the window itself may not hold. A window of 0 is not known.
func BoundIn(window int) int {
	if window <= 0 {
		return BoundTurn
	}
	return min(BoundTurn, max(BoundNotes, window/4))
}
