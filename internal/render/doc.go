// Package render lays out Markdown in lines for a terminal, whole or as it arrives, and renders it as HTML (see HTML).
//
// Guarantees for terminals:
//   - No line is wider than Options.Width, in columns as terminals count them: wide characters take two, combining ones
//     none.
//   - A line is broken between words, and within a word only if that word is longer than a line. What a citation names
//     stays in one piece.
//   - Each line is independent: styles and links that begin in it end in it, so that lines can be printed, cut or put
//     side by side.
//   - Nothing in a text controls the terminal: control characters and those that change the direction of writing are
//     removed, even if written as entities, and the only sequences are those of the options.
//   - A Stream returns the same lines as Lines, however the text was cut into pieces. Lines returned as stable never
//     change.
//   - The address of a link is always shown, so that no words hide where it leads.
//
// Links by reference are shown as they were written, since their definitions may not have arrived yet.
package render
