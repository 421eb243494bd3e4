// Package talk holds a conversation on a terminal: an input line, answers that stream as rendered Markdown, and
// commands that begin with /.
//
// Guarantees:
//   - Questions and answers are printed once, into the terminal's own scrollback, and never change; only the live
//     lines below them are redrawn.
//   - Provisional text is shown only in the live lines: what a model retracts disappears from the screen.
//   - No text of a model, a file or a session controls the terminal: package render lays it out or cleans it.
//   - Stopping an answer stops nothing else. However the conversation ends, the terminal is restored, and an active
//     run is asked to stop and waited for, for a limited time.
//   - The saved history of a folder gets no line that redaction would change, and only its user can read it.
//   - The cost of a frame depends on the height of the screen and on the text's last paragraph, not on the length of
//     the answer.
package talk
