// Package council is the Council: a person thinks aloud in a session, and oracles, which are personas written as
// Markdown files, answer with the whole context (requirement 2).
//
// Its parts: session is the folder that holds what was said and answered, persona the oracles, prompt the context that
// they are given. This package has what decides and asks: the leaves of trees/council.xml, and Desk, the acts of a
// person.
//
// Guarantees:
//   - The folder is the truth for what it holds. Transcribing and asking are runs; adding, renaming and preferences are
//     acts of the person, done at once.
//   - A run of an oracle begins with the very prompt that its model is sent, and with how it was made. What is added to
//     the session later changes neither. All oracles of one sitting have the same context.
//   - An answer is written into the folder once, whatever crashes. One that can't be written is shown, stays in the
//     journal, and is written by whoever next opens the session (Desk.Open).
//   - One oracle that fails or times out harms no other, and half an answer is none. Answers stand if the chair fails.
//   - Without a model nobody answers as an oracle: nothing that rules made stands in a session's history.
//   - A chair's sentence is by those whose answers hold the words that it quotes; others whom it names are marked as
//     unproven.
//   - A session is READY only when an answer's context held all that was said in it.
//   - Nothing that was said or answered reads as the header of an entry, as the heading of another's answer or as a
//     placeholder.
//   - After a restart a run goes on where it was: an oracle that had answered is not asked again.
//   - A session is transcribed by one run at a time. One whose run nobody drives any more is INTERRUPTED.
package council
