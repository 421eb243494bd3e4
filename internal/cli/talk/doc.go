// Package talk is a conversation on a terminal: a line to type in, answers that stream as rendered Markdown, and
// commands that begin with /.
//
// Guarantees:
//   - What was said and answered stands in the terminal's own scrollback, printed once and never changed; only the
//     lines below it live.
//   - Provisional text lives: nothing that a model takes back stays on the screen.
//   - No text of a model, a file or a session steers the terminal: it is laid out by package render, or cleaned by it.
//   - Stopping an answer stops nothing else. However the conversation ends, the terminal is as it was before, and the
//     run that goes on is asked to stop and waited for, within a bound.
//   - The history of a folder holds no line that redaction would change, and is readable by its person alone.
//   - What a frame costs depends on the height of the screen and on the text's last paragraph, not on how long the
//     answer is.
package talk
