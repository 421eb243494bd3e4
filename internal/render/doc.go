// Package render lays Markdown out for a terminal: lines of text of at most a given width, whole or as it arrives.
//
// Guarantees:
//   - No line is wider than Options.Width, in columns as terminals count them: wide characters take two, combining ones
//     none.
//   - A line is broken between words, and within a word only if it alone is longer than a line. What a citation names
//     stays in one piece.
//   - Each line stands for itself: styles and links that begin in it end in it, so that lines can be printed, cut or
//     put side by side.
//   - Nothing in a text steers the terminal: control characters and those that turn the direction of writing are gone,
//     however they were written, and the only sequences are those of the options.
//   - A Stream gives the same lines as Lines, wherever the text was cut into pieces. What it called stable never
//     changes.
//   - The address of a link is always shown, so that no words hide where it leads.
//
// Links by reference are left as they were written, since what they refer to may not have arrived.
package render
